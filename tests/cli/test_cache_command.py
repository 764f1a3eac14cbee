"""stickler cache, and the note of `ask` where answers cannot be kept."""

import pytest

from qa.answer_cache import place

REACH = "can a creature with reach block a creature with flying?"


@pytest.fixture
def home(built_home, tmp_path, monkeypatch, shared_search):
    (tmp_path / "cache").symlink_to(built_home / "cache")
    monkeypatch.setenv("STICKLER_HOME", str(tmp_path))
    return tmp_path


def test_an_answer_is_kept_shown_and_cleared(home, stickler, result):
    assert result("cache", "show")["answers"] == 0
    asked = ("ask", REACH, "--model", "none")
    assert "from the cache" not in stickler(*asked)[1]
    code, out, err = stickler(*asked)
    assert (code, err) == (0, "")
    assert out.rstrip().endswith("from the cache")
    assert result("cache", "show")["answers"] == 1
    assert stickler("cache", "show")[1].startswith("1 of at most 2000 answers, ")
    assert stickler("cache", "clear")[1].startswith("Cleared, ")
    assert stickler("cache", "clear")[1] == "The cache is empty.\n"
    assert "from the cache" not in stickler(*asked)[1]


def test_a_damaged_cache_is_a_note_and_clearing_mends_it(home, stickler):
    place().write_bytes(b"damaged" * 1000)
    code, out, err = stickler("ask", REACH, "--model", "none")
    assert code == 0
    assert "702.17b Reach" in out
    assert err.count("Note: The answer cache ") == 1
    assert "clear it with 'stickler cache clear'" in err
    assert stickler("cache", "show")[0] == 1
    assert stickler("cache", "clear")[0] == 0
    assert stickler("ask", REACH, "--model", "none")[2] == ""
