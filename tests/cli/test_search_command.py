"""stickler search, stickler index and stickler doctor, with the real index."""

import pytest

from index import library


@pytest.fixture(autouse=True)
def built(built_home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))


def test_search_finds_the_rules_that_decide(stickler, shared_search, result):
    question = "does my trampler need to kill both blockers?"
    code, out, err = stickler("search", question, "-k", "3")
    assert (code, err) == (0, "")
    assert out.startswith(" 1. 702.19b Trample [2024-03-08]")
    hits = result("search", question, "-k", "3")
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert (hits[0]["number"], hits[0]["heading"]) == ("702.19b", "Trample")
    assert hits[0]["text"].startswith("The controller of an attacking creature with trample")


def test_search_opens_the_index_and_parses_the_rulebook_once(result, monkeypatch):
    loaded = []
    load = library.load
    monkeypatch.setattr(library, "load", lambda *among: loaded.append(among) or load(*among))
    hits = result("search", "trample over planeswalkers", "--edition", "2024-03-08")
    assert hits[0]["edition"] == "2024-03-08"
    assert len(loaded) == 1


def test_an_index_that_is_up_to_date_is_left_alone(result):
    before = result("index", "info")
    assert before["fresh"] is True
    built = result("index", "build")
    assert built == {name: value for name, value in before.items() if name != "fresh"}


def test_index_info_says_that_a_document_was_added(stickler, result, home, monkeypatch):
    monkeypatch.setattr(library, "documents", lambda: [])
    assert result("index", "info")["fresh"] is False
    assert "State: out of date: run 'stickler index build'\n" in stickler("index", "info")[1]
    monkeypatch.setenv("STICKLER_HOME", str(home))
    code, _, err = stickler("index", "info")
    assert (code, err) == (1, "Error: There is no index yet: run 'stickler index build'.\n")


def test_doctor_says_what_is_ready_and_what_to_run(stickler, result, home, monkeypatch):
    findings = {row["what"]: row for row in result("doctor")}
    assert all(row["fine"] for row in findings.values())
    assert findings["index"]["state"].startswith("fresh, built ")
    monkeypatch.setenv("STICKLER_HOME", str(home))
    code, out, _ = stickler("doctor")
    assert code == 1
    assert "MISS index: not built yet: run 'stickler index build'" in out.splitlines()
