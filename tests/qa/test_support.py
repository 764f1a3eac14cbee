"""Which rule backs a sentence of a model."""

import pytest

from index.expansion import AnsweredQuestion
from qa import support

QUESTION = "Is reach a static ability?"


@pytest.fixture
def reach(book):
    """Two rules about reach: what it is, and what it does."""
    return [book.current.rule("702.17a"), book.current.rule("702.17b")]


def test_a_sentence_is_checked_against_the_rule_that_it_cites(reach, embedder):
    """Another rule that the model was shown does not back it."""
    right, wrong = (
        support.supported(f"Reach is a static ability [{number}].", QUESTION, reach, [], embedder)
        for number in ("702.17a", "702.17b")
    )
    assert right == ([("Reach is a static ability", "702.17a")], 0)
    assert wrong == ([], 1)


def test_a_sentence_without_a_number_is_checked_against_all(reach, embedder):
    found = support.supported("Reach is a static ability.", QUESTION, reach, [], embedder)
    assert found == ([("Reach is a static ability", "702.17a")], 0)


def test_what_a_rule_answered_to_a_question_backs_a_sentence_too(reach, embedder):
    said = "Your Spider has no flying, but its reach lets it catch the Dragon [702.17b]."
    answer = "Yes. The Spider has no flying, but its reach lets it catch the Dragon."
    known = AnsweredQuestion("702.17b", "May my Spider catch a Dragon?", answer, 0.9)
    asked = "Does my 2/2 Spider get to catch your Dragon?"
    assert support.supported(said, asked, reach, [], embedder) == ([], 1)
    [kept], failed = support.supported(said, asked, reach, [known], embedder)
    assert (kept.number, failed) == ("702.17b", 0)
    turned = said.replace("catch", "not catch")
    assert support.supported(turned, asked, reach, [known], embedder) == ([], 1)


@pytest.mark.parametrize(
    ("said", "asked", "kept"),
    [
        ("Your 2/2 Spider has reach, so it catches the Dragon", "Can my 2/2 Spider block it?", 1),
        ("Your 2/2 Spider has reach, so it catches the Dragon", "Can my 3/4 Spider block it?", 0),
        ("Two of your Spiders catch the Dragon", "Do my 2 Spiders with reach block it?", 1),
        ("Ten of your Spiders catch the Dragon", "Do my nine Spiders with reach block it?", 0),
        ("Two of your Spiders catch the Dragon", "Do my three Spiders with reach block it?", 0),
        ("Fifteen of your Spiders catch the Dragon", "Do my Spiders with reach block it?", 0),
        ("Half of your Spiders catch the Dragon", "Do my Spiders with reach block it?", 0),
    ],
)
def test_the_figures_of_another_situation_back_nothing(said, asked, kept, reach, embedder):
    known = AnsweredQuestion("702.17b", "May a Spider catch a Dragon?", f"Yes. {said}.", 0.9)
    found, failed = support.supported(f"{said} [702.17b].", asked, reach, [known], embedder)
    assert (len(found), failed) == (kept, 1 - kept)


@pytest.mark.parametrize(
    ("raw", "sentences"),
    [
        ("One thing [702.9b]. Another [509.1b].", [("One thing", "702.9b"), ("Another", "509.1b")]),
        ("One thing. [702.9b] Another. [509.1b]", [("One thing", "702.9b"), ("Another", "509.1b")]),
        ("One thing (702.9b). It broke off in the mid", [("One thing", "702.9b")]),
        ("The same [702.9b]. The same [702.9b].", [("The same", "702.9b")]),
        ("A. B. C. D.", [("A", None), ("B", None), ("C", None)]),
        ("It is {2}{U} [702.9b].", [("It is {2}{U}", "702.9b")]),
        ("", []),
        ("[702.9b].", []),
    ],
)
def test_sentences_are_split_from_their_numbers(raw, sentences):
    assert support.split_sentences(raw) == sentences
