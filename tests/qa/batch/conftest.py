"""What the tests of batches and tables share."""

import pytest
from batches import FakeEngine

from qa.batch.run import Job, run
from qa.batch.tables.source import open_source


@pytest.fixture
def work(tmp_path):
    """Runs a batch with a fake assistant; gives its counts, its notes and the output's path."""

    def do(assistant, source, out="out.jsonl", chunk=2, settings="1", **options):
        engine = FakeEngine(assistant, chunk, settings)
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
