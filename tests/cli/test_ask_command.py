"""stickler ask and stickler chat, with the real search: what they print, and what they load."""

import io
import json
import sys

import pytest
from fakes import EchoModel

import cli.ask
import qa.resources
from index.errors import Action, Remedy, SticklerError
from qa.assistant import Assistant
from qa.compose import SIMILAR
from qa.resources import Resources

HOW_TO_ADD = "Add the full rules with 'stickler rules add FILE'."
SETTLED = "can a creature with reach block a creature with flying?"
UNSETTLED = "how many cards does a deck need?"


@pytest.fixture
def typed(monkeypatch):
    """Puts lines on standard input."""

    def write(*lines):
        data = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data, encoding="utf-8"))

    return write


@pytest.fixture
def loads(monkeypatch):
    """Records what is loaded in the background."""
    asked = []
    monkeypatch.setattr(Resources, "load_search", lambda self: asked.append("search"))
    monkeypatch.setattr(Resources, "load_model", lambda self, name: asked.append(name))
    monkeypatch.setattr(Assistant, "ask_stream", lambda *_: iter([]))
    return asked


def test_a_keyword_is_answered_from_the_book(stickler):
    code, out, err = stickler("ask", "what is defender?")
    assert (code, err) == (0, "")
    assert "702.3b Defender [2022-06-10]\n  A creature with defender can’t attack." in out
    code, out, _ = stickler("ask", "702.3b", "--json")
    assert json.loads(out)["citations"][0]["number"] == "702.3b"


def test_an_answer_sets_the_decisive_sentence_off(stickler, shared_search):
    code, out, err = stickler("ask", SETTLED)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "702.17b Reach [2024-03-08]" in words
    assert "“A creature with flying can’t be blocked except by creatures with flying" in words
    assert "reach.” (See rule 509" in words
    assert "Edition current, model none, confidence 0.9" in words
    assert HOW_TO_ADD not in words
    similar = words.partition(f"{SIMILAR}: ")[2]
    assert similar.count("“") == 3
    assert "[702.17b]." in similar


def test_an_answer_that_depends_on_what_is_left_open_has_both_sides(stickler, shared_search):
    code, out, _ = stickler("ask", "--model", "none", "Is infect damage counted as normal damage?")
    words = " ".join(out.split())
    assert code == 0
    assert "does not say: damage to a creature or a player. If it is dealt to a player," in words
    assert "If it is dealt to a creature, 702.90c: “Damage dealt to a creature by" in words


def test_a_rule_that_is_cited_whole_has_no_quotation_marks_added(stickler):
    assert "“" not in stickler("ask", "702.3b")[1]


def test_a_refusal_for_want_of_rules_says_how_to_add_them(stickler, shared_search, result):
    code, out, err = stickler("ask", UNSETTLED)
    assert (code, err) == (0, "")
    assert out.startswith("The loaded rules do not settle this.")
    assert HOW_TO_ADD in out.splitlines()
    answer = result("ask", UNSETTLED)
    assert answer["abstained"]
    assert "stickler" not in answer["text"]


def test_the_question_is_read_from_standard_input(typed, result):
    typed("what is defender?")
    assert result("ask")["question"] == "what is defender?"


def test_sentences_of_the_model_are_shown_where_asked_for(stickler, monkeypatch, searcher):
    model = EchoModel(
        "A creature with flying can’t be blocked except by creatures with reach. See rule 702.999."
    )
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    monkeypatch.setattr(qa.resources, "Resources", lambda *_, **__: resources)
    shown = stickler("ask", SETTLED, "--model", "fake", "--show-generated")[1]
    assert "As fake reads it: A creature with flying" in " ".join(shown.split())
    assert "blocked except by creatures with reach [702." in " ".join(shown.split())
    assert "Not verified, so do not rely on it: the model named 702.999." in shown
    hidden = stickler("ask", SETTLED, "--model", "fake", "--no-show-generated")[1]
    assert "reads it" not in hidden
    assert len(model.prompts) == 1


def test_unsure_sentences_are_shown_only_where_asked_for(stickler, monkeypatch, searcher):
    said = "a creature with flying can’t be blocked except by creatures with flying and/or reach."
    model = EchoModel(f" {said}", probabilities={"Yes": 0.5, "No": 0.45})
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    monkeypatch.setattr(qa.resources, "Resources", lambda *_, **__: resources)
    plain = " ".join(stickler("ask", SETTLED, "--model", "fake")[1].split())
    assert plain.index("702.17b Reach") < plain.index("As fake reads it: Unclear (53% for yes).")
    assert "The rule says that" not in plain
    asked_for = " ".join(stickler("ask", SETTLED, "--model", "fake", "--show-generated")[1].split())
    assert "As fake reads it, though it is unsure: Unclear (53% for yes). The rule" in asked_for


def test_search_and_model_are_loaded_early_unless_the_book_answers(stickler, loads):
    stickler("ask", "what is defender?", "--model", "fake")
    assert loads == []
    stickler("ask", SETTLED, "--model", "none")
    assert loads == ["search"]
    stickler("ask", SETTLED, "--model", "fake")
    assert loads == ["search", "search", "fake"]


def test_without_the_default_model_the_rules_are_quoted_with_a_word_on_how_to_get_it(
    stickler, shared_search, result
):
    code, out, _ = stickler("ask", SETTLED)
    assert code == 0
    assert "702.17b Reach" in out
    assert "qwen2.5-coder-1.5b has not been downloaded yet. Get it with 'stickler model get'." in (
        " ".join(out.split())
    )
    answer = result("ask", SETTLED)
    assert (answer["model"], answer["verdict"], answer["generated"]) == ("none", None, "")
    assert "stickler" not in answer["reason"]


def test_a_chat_keeps_the_subject_until_an_empty_line(stickler, typed, shared_search):
    typed("can a creature with reach block?", "and if it is tapped?", "", "what is defender?")
    code, out, _ = stickler("chat")
    assert code == 0
    assert "Understood as: can a creature with reach block? and if it is tapped?" in out
    assert "Defender" not in out


def test_a_chat_tries_once_more_to_load_what_failed(stickler, typed, monkeypatch, searcher):
    searches = iter([SticklerError("The index cannot be opened", "try again"), searcher])

    def open_search(resources):
        found = next(searches)
        if isinstance(found, SticklerError):
            raise found
        return found

    monkeypatch.setattr(Resources, "_open_search", open_search)
    typed(SETTLED, SETTLED)
    code, out, err = stickler("chat", "--model", "none")
    assert code == 0
    assert err == "Error: The index cannot be opened: try again.\n"
    assert "702.17b Reach" in out


def test_a_chat_goes_on_after_an_error(stickler, typed, monkeypatch):
    def fail_first(assistant, cache, question, before=(), stream=True):
        if question == "why?":
            raise SticklerError("There is no index yet", Remedy(Action.BUILD_INDEX))
        return answer(assistant, cache, question, before, stream)

    answer = cli.ask._answer
    monkeypatch.setattr(cli.ask, "_answer", fail_first)
    typed("why?", "what is defender?")
    code, out, err = stickler("chat")
    assert code == 0
    assert err == "Error: There is no index yet: run 'stickler index build'.\n"
    assert "702.3b Defender" in out
