"""Texts become vectors once; what was embedded before is taken from the cache."""

import numpy as np
import pytest

from index.embedder import Embedder
from index.errors import SticklerError


class Counting(Embedder):
    """The real model, counting what it is really asked to encode."""

    def __init__(self):
        super().__init__()
        self.encoded = []

    def _normalised(self, encode, texts):
        self.encoded += texts
        return super()._normalised(encode, texts)


def test_a_vector_is_the_models_own(searcher):
    texts = ["Trample: excess damage", "Flying: a creature with flying"]
    mine = Embedder().encode_passages(texts)
    theirs = searcher.embedder.model.encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_each_text_is_encoded_once(home):
    embedder = Counting()
    first = embedder.encode_passages(["a rule", "another", "a rule"])
    assert sorted(embedder.encoded) == ["a rule", "another"]
    again = Counting()
    second = again.encode_passages(["another", "a rule", "a third"])
    assert again.encoded == ["a third"]
    assert (second[1] == first[0]).all()
    assert (second[0] == first[1]).all()


def test_what_was_done_before_a_kill_is_not_done_again(home, monkeypatch):
    monkeypatch.setattr("index.embedder._CHUNK", 4)
    texts = [f"text {number:02}" for number in range(12)]

    def stop_after_one_chunk(done, total):
        assert total == 12
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Embedder().encode_passages(texts, stop_after_one_chunk)
    again = Counting()
    again.encode_passages(texts)
    assert len(again.encoded) == 8


def test_one_model_is_told_from_another(tmp_path):
    whole = Embedder().hash
    other = tmp_path / "model"
    other.mkdir()
    (other / "config.json").write_text("{}")
    assert Embedder(str(other)).hash != whole
    assert Embedder().hash == whole


def test_a_folder_without_a_model_is_said_to_be_one(tmp_path):
    with pytest.raises(SticklerError, match="does not hold a sentence-transformers model"):
        Embedder(str(tmp_path)).encode_questions(["x"])


def test_a_damaged_cache_names_the_file_to_delete(home):
    embedder = Embedder()
    path = home / "cache" / f"embeddings-{embedder.hash}.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a data base, but long enough to be taken for one" * 100)
    with pytest.raises(SticklerError, match=r"embeddings-.*delete it"):
        embedder.encode_passages(["x"])
