"""What the tests of answers, batches and tables share."""

import pytest

from qa import batch
from qa.batch.run import Job, LocalEngine, run
from qa.batch.tables.source import open_source


@pytest.fixture
def kept_embeddings(built_home, monkeypatch):
    """The index's own data folder: what is embedded for one test is there for the next."""
    monkeypatch.setenv("STICKLER_HOME", str(built_home))


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Runs a batch over a stand-in; gives its counts, what was noted and the output's rows."""
    monkeypatch.setattr(batch, "made_with", lambda assistant: {"settings": "1"})

    def do(assistant, source, out="out.jsonl", chunk=2, **options):
        engine = LocalEngine(assistant)
        engine.chunk = chunk
        notes = []
        job = Job(str(source), tmp_path / out, **options)
        counts = run(job, engine, lambda done, total: None, notes.append)
        return counts, notes, (tmp_path / out)

    return do


@pytest.fixture
def five(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("one?\ntwo?\n\nthree?\nfour?\nfive?\n")
    return path


@pytest.fixture
def read(tmp_path):
    """The rows of a file with this content, its empty ones among them as None."""

    def rows(name, content, column=None, format=None, limit=None):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        source = open_source(str(path), format, column, limit, tmp_path / "copy")
        source.survey()
        return list(source.rows())

    return rows
