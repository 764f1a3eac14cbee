"""The sets from the documents' own examples: the same every time, and none finds its answer."""

import json
import threading

import pytest

from eval import examples, items
from eval.examples import _split, _turned
from index import library
from qa.answer import Assistant
from qa.settings import Settings

KINDS = ("rule", "outcome", "verdict", "free")


class Listening:
    """A model that keeps what it was told."""

    name, hash, context = "listening", "0", 4096

    def __init__(self):
        self.prompts = []

    def count(self, text):
        return len(text) // 4

    def generate(self, prompts, limit):
        self.prompts += prompts
        return ["Yes." for _ in prompts]

    def stream(self, prompt, limit, stop: threading.Event):
        self.prompts.append(prompt)
        yield "Yes."


@pytest.fixture(scope="module")
def built(book):
    return examples.build(book)


def test_an_example_repeated_across_editions_counts_once(book):
    those = examples.distinct(book)
    assert len(those) == 47
    twins = {e.id: e.masked for e in those if len(e.masked) > 1}
    assert twins["2024-03-08/702.24a#1"] == (
        "2024-03-08/702.24a#1",
        "2022-06-10/702.24a#1",
        "2009-10-01/702.21a#1",
    )
    assert (
        "2009-10-01/702.17b#1" in twins["2024-03-08/702.19b#1"]
    )  # another wording, another number
    assert "2024-03-08/702.19c#1" not in twins["2024-03-08/702.19b#1"]  # alike, but another rule


def test_a_whole_release_brings_some_280(releases, tmp_path, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(tmp_path))
    library.add(str(releases / "2024-03-08.txt"))
    those = examples.distinct(library.load())
    assert 250 <= len(those) <= 310
    built = examples.build(library.load())
    assert {item.source for item in built} == {"read by hand", "split by code"}
    assert examples.unmatched(library.load()) == []


def test_every_hand_read_example_still_stands_in_the_documents(book):
    assert examples.unmatched(book) == []


def test_a_hand_read_example_that_is_gone_is_named():
    only = library.load(d for d in library.documents() if d.edition == "2009-10-01")
    assert any("Vastwood Gorger" in text for text in examples.unmatched(only))


def test_the_files_that_ship_are_what_build_makes(built, tmp_path):
    for path in examples.write(built, tmp_path):
        assert path.read_bytes() == (items.SETS / path.name).read_bytes()


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
    ("text", "situation", "outcome", "turned"),
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
def test_code_splits_only_what_it_can(text, situation, outcome, turned):
    case = _split(text)
    assert (case.situation, case.outcome, case.turned) == (situation, outcome, turned)


def test_code_turns_only_what_has_one_thing_to_turn():
    assert _turned("It can attack, but it can’t block.") == "It can attack, but it can block."
    assert _turned("It can attack and it can block.") == ""


def test_a_masked_example_is_found_on_no_path(searcher, built, built_home, monkeypatch):
    """By meaning, by words, by number, by reference, in the prompt, in hits and in citations."""
    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    texts = {p.id: p.shown for view in searcher.index.views.values() for p in view.passages}
    model = Listening()
    asked = [item for item in built if item.kind == "rule"]
    for edition in {item.edition for item in asked}:
        assistant = Assistant(Settings("x", edition=edition), searcher, model)
        own = [item for item in asked if item.edition == edition]
        masks = [item.masked for item in own]
        for questions in (
            [item.question for item in own],
            [texts[item.masked[0]] for item in own],
            [f"what does {item.gold_rules[0]} say?" for item in own],
        ):
            found = searcher.search_many(questions, 60, edition, masks)
            answers = assistant.ask_many(questions, masked=masks)
            for item, hits, answer in zip(own, found, answers, strict=True):
                hidden = [texts[passage] for passage in item.masked]
                seen = [hit.passage.shown for hit in (*hits, *answer.hits)]
                seen += [answer.text, *(citation.text for citation in answer.citations)]
                assert not [text for text in seen if any(secret in text for secret in hidden)]
    prompts = [prompt.user.split("Question:")[0] for prompt in model.prompts]
    everything = [texts[p] for item in built if item.kind == "rule" for p in item.masked]
    assert prompts
    assert not [text for text in everything if any(text in prompt for prompt in prompts)]


def test_without_the_mask_the_example_would_be_found(searcher, built):
    item = next(item for item in built if item.id == "rule/2024-03-08/702.24a#1")
    hits = searcher.search(item.question, 10, item.edition)
    assert any(hit.passage.id in item.masked for hit in hits)


def test_the_sets_are_json_lines_with_a_version():
    for kind in KINDS:
        lines = (items.SETS / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
        assert all(json.loads(line)["version"] == 1 for line in lines)
