"""What a refusal must be: one sentence, and nothing changed on disk."""

import pytest

from index import library
from index.errors import SticklerError


def on_disk(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def refused(source, home, edition=None):
    """The sentence that `source` is refused with, once it is sure that nothing changed."""
    before, documents = on_disk(home), library.documents()
    with pytest.raises(SticklerError) as refusal:
        library.add(source, edition)
    sentence = str(refusal.value)
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert "Traceback" not in sentence
    assert on_disk(home) == before
    assert library.documents() == documents
    return sentence
