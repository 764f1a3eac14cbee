"""The sets from the documents' own examples: the same every time, and none finds its answer."""

import json

import pytest
from fakes import EchoModel

from eval import examples
from eval.examples import _negated, _split
from index import library
from qa.assistant import Assistant
from qa.resources import Resources
from qa.settings import Settings

KINDS = ("rule", "outcome", "verdict", "free")


@pytest.fixture(scope="module")
def built(book):
    return examples.build(book)


def test_an_example_repeated_across_editions_counts_once(book):
    those = examples.distinct(book)
    assert len(those) == 47
    duplicates = {e.id: e.masked for e in those if len(e.masked) > 1}
    assert duplicates["2024-03-08/702.24a#1"] == (
        "2024-03-08/702.24a#1",
        "2022-06-10/702.24a#1",
        "2009-10-01/702.21a#1",
    )
    assert (
        "2009-10-01/702.17b#1" in duplicates["2024-03-08/702.19b#1"]
    )  # another wording, another number
    assert (
        "2024-03-08/702.19c#1" not in duplicates["2024-03-08/702.19b#1"]
    )  # alike, but another rule


def test_a_whole_release_brings_some_280(releases, tmp_path, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(tmp_path))
    library.add(str(releases / "2024-03-08.txt"))
    those = examples.distinct(library.load())
    assert 250 <= len(those) <= 310
    built = examples.build(library.load())
    assert {item.source for item in built} == {"read by hand", "split by code"}
    assert examples.unmatched(library.load()) == []


def test_every_example_that_was_split_by_hand_is_in_the_documents(book):
    assert examples.unmatched(book) == []


def test_an_example_that_is_no_longer_in_the_documents_is_named():
    only = library.load(d for d in library.documents() if d.edition == "2009-10-01")
    assert any("Vastwood Gorger" in text for text in examples.unmatched(only))


def test_the_sets_are_written_as_json_lines_with_a_version(built, tmp_path):
    paths = examples.write(built, tmp_path)
    assert [path.stem for path in paths] == ["rule", "free", "verdict", "outcome"]
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    assert len(rows) == len(built)
    assert {row["version"] for row in rows} == {1}


def test_each_kind_asks_what_it_should(built):
    by_kind = {kind: [item for item in built if item.kind == kind] for kind in KINDS}
    assert {kind: len(those) for kind, those in by_kind.items()} == {
        "rule": 47,
        "outcome": 46,
        "verdict": 92,
        "free": 46,
    }
    for item in by_kind["outcome"]:
        assert len(set(item.choices)) == 4
        assert item.gold_answer in item.choices
        assert item.gold_answer not in item.question
    places = [item.choices.index(item.gold_answer) for item in by_kind["outcome"]]
    assert all(places.count(place) >= 6 for place in range(4))  # no letter is right by habit
    verdicts = [item.gold_verdict for item in by_kind["verdict"]]
    assert verdicts.count("yes") == verdicts.count("no") == 46


def test_rules_that_say_the_same_are_accepted_alike(built):
    by_id = {item.id: item for item in built}
    assert by_id["rule/2024-03-08/509.1b#1"].gold_rules == ("509.1b", "702.28b")


@pytest.mark.parametrize(
    ("text", "situation", "outcome", "negated"),
    [
        (
            "Ann has a bear. Bob shocks it. It isn’t destroyed.",
            "Ann has a bear. Bob shocks it.",
            "It isn’t destroyed.",
            "It is destroyed.",
        ),
        (
            "Ann has a bear. If Bob shocks it, the bear can block.",
            "Ann has a bear. If Bob shocks it.",
            "The bear can block.",
            "The bear can’t block.",
        ),
        ("Ann has a bear and it survives.", "Ann has a bear and it survives.", "", ""),
        ("Ann has a bear. Bob shocks it with", "Ann has a bear. Bob shocks it with", "", ""),
        ("Ann has a bear. It grows twice.", "Ann has a bear.", "It grows twice.", ""),
    ],
)
def test_code_splits_only_what_it_can(text, situation, outcome, negated):
    case = _split(text)
    assert (case.situation, case.outcome, case.negated) == (situation, outcome, negated)


def test_code_negates_only_a_single_phrase():
    assert _negated("It can attack, but it can’t block.") == "It can attack, but it can block."
    assert _negated("It can attack and it can block.") == ""


@pytest.mark.slow
def test_a_masked_example_is_found_on_no_path(searcher, built, built_home, monkeypatch):
    """Not by vectors, BM25, number or reference; not in the prompt, the hits or the citations."""
    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    texts = {p.id: p.shown for view in searcher.index.views.values() for p in view.passages}
    model = EchoModel("Yes.")
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    asked = [item for item in built if item.kind == "rule"]
    for edition in {item.edition for item in asked}:
        assistant = Assistant(Settings("x", edition=edition), resources)
        own = [item for item in asked if item.edition == edition]
        masks = [item.masked for item in own]
        for questions in (
            [item.question for item in own],
            [texts[item.masked[0]] for item in own],
            [f"what does {item.gold_rules[0]} say?" for item in own],
        ):
            results = searcher.search(questions, 60, edition, masks)
            answers = assistant.ask_many(questions, masked=masks)
            for item, found, answer in zip(own, results, answers, strict=True):
                hidden = [texts[passage] for passage in item.masked]
                seen = [hit.passage.shown for hit in (*found.hits, *answer.hits)]
                seen += [answer.text, *(citation.text for citation in answer.citations)]
                assert not [text for text in seen if any(secret in text for secret in hidden)]
    prompts = [prompt.user.split("Question:")[0] for prompt in model.prompts]
    everything = [texts[p] for item in built if item.kind == "rule" for p in item.masked]
    assert prompts
    assert not [text for text in everything if any(text in prompt for prompt in prompts)]


def test_without_the_mask_the_example_would_be_found(searcher, built):
    item = next(item for item in built if item.id == "rule/2024-03-08/702.24a#1")
    [found] = searcher.search([item.question], 10, item.edition)
    assert any(hit.passage.id in item.masked for hit in found.hits)
