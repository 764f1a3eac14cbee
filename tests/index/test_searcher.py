"""Search finds the rule that decides, by every path, and never what is masked."""

import pytest

from index.errors import SticklerError
from index.searcher import LONGEST_QUESTION


def hits(searcher, question, masked=(), **options):
    [result] = searcher.search([question], masked=[masked], **options)
    return result.hits


def found(searcher, question, **options):
    return [hit.passage.number for hit in hits(searcher, question, **options)]


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("can a creature with reach block a flyer?", "702.17b"),
        ("my trampler got chump-blocked, does the excess damage go to the player?", "702.19b"),
        ("what makes an object historic", "700.6"),
        ("are two instances of first strike on one creature redundant?", "702.7d"),
    ],
)
def test_a_players_question_finds_the_rule_that_decides(searcher, question, number):
    assert number in found(searcher, question, k=5)


def test_each_rule_is_found_once_best_first(searcher):
    best = hits(searcher, "does lifelink work with noncombat damage?", k=15)
    numbers = [hit.passage.number for hit in best]
    assert len(numbers) == len(set(numbers)) == 15
    assert [hit.rank for hit in best] == list(range(1, 16))
    assert [hit.score for hit in best] == sorted((hit.score for hit in best), reverse=True)
    assert all(hit.via for hit in best)
    assert not any(hit.passage.embedded == "" for hit in best)  # no bare headings


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("what does 702.19b say?", ["702.19b"]),
        ("does 510.1c-d apply here?", ["510.1c", "510.1d"]),
        ("702.3", ["702.3", "702.3a", "702.3b", "702.3c"]),
        ("rule 702.2a and rule 702.9b", ["702.2a", "702.9b"]),
    ],
)
def test_a_number_in_the_question_is_looked_up_first(searcher, question, numbers):
    best = hits(searcher, question)
    assert [hit.passage.number for hit in best][: len(numbers)] == numbers
    assert all(hit.via == ("number",) for hit in best[: len(numbers)])


def test_a_number_that_is_not_in_the_book_finds_nothing_by_number(searcher):
    assert all("number" not in hit.via for hit in hits(searcher, "what does 999.9z say?"))


def test_an_edition_is_searched_alone(searcher):
    best = hits(searcher, "how does trample assign damage?", edition="2009-10-01", k=5)
    assert {hit.passage.edition for hit in best} == {"2009-10-01"}
    assert "702.17b" in [hit.passage.number for hit in best]
    with pytest.raises(SticklerError, match="no edition 1999-01-01"):
        searcher.search(["trample"], edition="1999-01-01")


def test_a_question_finds_the_same_alone_and_among_others(searcher):
    questions = ["what is banding", "can I chump block with a tapped creature?", "702.2b?"]
    alone = [[(h.passage.id, h.via) for h in hits(searcher, q)] for q in questions]
    together = [[(h.passage.id, h.via) for h in r.hits] for r in searcher.search(questions)]
    assert alone == together


def test_no_questions_have_no_results(searcher):
    assert searcher.search([]) == []


def questions_about(rule, book):
    """Questions that would each find a rule: its text, its number, its terms, who refers to it."""
    yield rule.text[:LONGEST_QUESTION]
    yield f"what does {rule.number} say?"
    yield rule.number
    yield f"{rule.heading} {rule.heading} {rule.text[:80]}"
    yield from (book.current.rule(n).text for n in book.current.referred_from(rule.number)[:3])


@pytest.mark.parametrize("number", ["702.19b", "702.9b", "510.1c", "702.22j"])
def test_a_masked_rule_is_invisible_on_every_path(searcher, number):
    rule = searcher.rulebook.current.rule(number)
    masked = [rule.passage_id]
    masked += [rule.example_id(place) for place, _ in enumerate(rule.examples, 1)]
    questions = list(questions_about(rule, searcher.rulebook))
    for hidden, expected in ((masked, False), ((), True)):
        for result in searcher.search(questions, k=700, masked=[hidden] * len(questions)):
            assert (number in [hit.passage.number for hit in result.hits]) is expected


def test_a_masked_example_is_invisible_though_its_rule_is_not(searcher):
    rule = searcher.rulebook.current.rule("702.19b")
    text, passage = rule.examples[0].text, rule.example_id(1)
    assert passage in [h.passage.id for h in hits(searcher, text)]
    rest = hits(searcher, text, k=700, masked=[passage])
    assert passage not in [h.passage.id for h in rest]
    assert text not in [h.passage.shown for h in rest]
    assert "702.19b" in [h.passage.number for h in rest]


@pytest.mark.parametrize("question", ["", "   \n", "x" * (LONGEST_QUESTION + 1)])
def test_a_question_that_is_none_is_refused_in_a_sentence(searcher, question):
    with pytest.raises(SticklerError, match=r"The question (is empty|has \d+ characters): ask"):
        searcher.search(["a sound one?", question])


@pytest.mark.parametrize(
    "question",
    [
        "?!",
        "the of and",
        "ſ \u202e \x00",
        "日本語",
        "{W}{U} 1/1 +1/+1",
        "' OR 1=1 --",
        "🃏" * 500,
    ],
)
def test_odd_questions_find_something_and_do_no_harm(searcher, question):
    assert len(hits(searcher, question)) == 10


def test_as_many_rules_as_there_are_can_be_asked_for(searcher):
    sentences = [rule for rule in searcher.rulebook.current.rules if not rule.is_heading]
    assert len(hits(searcher, "trample", k=5000)) == len(sentences)
    with pytest.raises(SticklerError, match="at least one"):
        searcher.search(["trample"], k=0)
