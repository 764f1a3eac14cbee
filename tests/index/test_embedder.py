"""Texts become vectors once; what was embedded before is taken from the cache."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from index.embedder import Embedder
from index.errors import SticklerError


@pytest.fixture
def encoded(embedder, monkeypatch):
    """The texts that the model itself is given to encode, as they come."""
    texts = []
    encode = embedder.model.encode_document

    def recording(sentences, **options):
        texts.extend(sentences)
        return encode(sentences, **options)

    monkeypatch.setattr(embedder.model, "encode_document", recording)
    return texts


def test_a_vector_is_the_models_own(embedder):
    texts = ["Trample: excess damage", "Flying: a creature with flying"]
    theirs = embedder.model.encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embedder.encode_passages(texts), theirs, atol=1e-5)


def test_each_text_is_encoded_once(embedder, encoded):
    first = embedder.encode_passages(["a rule", "another", "a rule"])
    assert sorted(encoded) == ["a rule", "another"]
    encoded.clear()
    second = embedder.encode_passages(["another", "a rule", "a third"])
    assert encoded == ["a third"]
    assert (second[1] == first[0]).all()
    assert (second[0] == first[1]).all()


def test_what_was_done_before_a_kill_is_not_done_again(embedder, encoded, monkeypatch):
    monkeypatch.setattr("index.embedder._CHUNK", 4)
    texts = [f"text {number:02}" for number in range(12)]

    def stop_after_one_chunk(done, total):
        assert total == 12
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedder.encode_passages(texts, stop_after_one_chunk)
    encoded.clear()
    embedder.encode_passages(texts)
    assert len(encoded) == 8


def test_a_disk_that_fills_up_is_one_sentence(embedder, disk_full):
    embedder.encode_passages(["while there is room"])
    with (
        disk_full(16_384),
        pytest.raises(SticklerError, match=r"Could not store embeddings .*free some disk space"),
    ):
        embedder.encode_passages([f"text {number}" for number in range(20)])


def test_threads_that_encode_at_once_each_get_their_own():
    embedder = Embedder()
    texts = [f"{'a long question ' * (number % 5)}about rule {number}?" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda text: embedder.encode_questions([text])[0], texts))
    np.testing.assert_allclose(together, embedder.encode_questions(texts), atol=1e-5)


def test_one_model_is_told_from_another(tmp_path):
    whole = Embedder().hash
    other = tmp_path / "model"
    other.mkdir()
    (other / "config.json").write_text("{}")
    assert Embedder(str(other)).hash != whole
    assert Embedder().hash == whole


def test_a_folder_without_a_model_is_said_to_be_one(tmp_path):
    with pytest.raises(SticklerError, match="does not contain a sentence-transformers model"):
        Embedder(str(tmp_path)).encode_questions(["x"])


def test_a_damaged_cache_names_the_file_to_delete(home, embedder):
    path = home / "cache" / f"embeddings-{embedder.hash}.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a data base, but long enough to be taken for one" * 100)
    with pytest.raises(SticklerError, match=r"embeddings-.*delete it"):
        embedder.encode_passages(["x"])
