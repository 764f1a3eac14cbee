"""Sentences are cut where they end, and a quote is the rule's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.hits import Hit
from index.passages import Passage
from qa.citations import cite, decisive, near_best, sentences


def test_every_rule_is_cut_into_sentences_that_lose_nothing(book):
    for edition in ("current", "2009-10-01"):
        for rule in book.edition(edition).rules:
            parts = sentences(rule.text)
            assert all(part in rule.text for part in parts)
            assert "".join("".join(parts).split()) == "".join(rule.text.split())


@given(st.text(alphabet='ab .!?”“"()A\n', max_size=200))
def test_sentences_are_substrings_of_any_text(text):
    assert all(part in text for part in sentences(text))


def test_a_quotation_is_not_cut_in_the_middle(book):
    parts = sentences(book.current.rule("702.87a").text)
    meaning = next(part for part in parts if "means" in part)
    assert meaning.startswith("“Level up [cost]” means “[Cost]: Put a level counter")
    assert meaning.count("“") == meaning.count("”")


@pytest.mark.parametrize(
    ("question", "number", "words"),
    [
        ("must fear be blocked by a black creature?", "702.36b", "and/or black creatures"),
        ("do I have to kill all blockers before trample goes through?", "702.19b", "lethal damage"),
        ("what do I get when I pay for level up?", "702.87a", "Put a level counter"),
    ],
)
def test_the_decisive_sentence_speaks_to_the_question(searcher, question, number, words):
    rule = searcher.rulebook.current.rule(number)
    asked = searcher.embedder.encode_questions([question])[0]
    [[quote]] = decisive([asked], [[rule]], searcher.embedder)
    assert words in quote
    assert quote in rule.text


def test_a_quote_that_is_not_the_rules_is_a_mistake(book):
    rule = book.current.rule("702.2a")
    assert cite(rule, rule.text, None).quote == rule.text
    with pytest.raises(ValueError, match=r"not in rule 702\.2a"):
        cite(rule, "Deathtouch is a dynamic ability.", None)


def test_the_stump_of_a_cut_rule_is_not_quoted(searcher):
    cut = [rule for rule in searcher.rulebook.current.rules if rule.truncated]
    assert len(cut) == 38
    asked = searcher.embedder.encode_questions(["what happens?"])[0]
    [quotes] = decisive([asked], [cut], searcher.embedder)
    stumps = [
        rule.number
        for rule, quote in zip(cut, quotes, strict=True)
        if rule.text.endswith(quote) and len(sentences(rule.text)) > 1
    ]
    assert stumps == []


@pytest.mark.parametrize(
    ("scores", "about", "cited"),
    [
        ([9.0, 4.0, 3.9, 3.8], 3, 1),  # the first stands out
        ([9.0, 8.9, 8.8, 8.7, 8.6, 8.5, 8.4], 3, 5),  # many are as good
        ([9.0, 8.0, 7.0, 6.0], 3, 2),
        ([9.0, 8.9, 8.8, 8.7], 1, 3),
        ([], 3, 0),
    ],
)
def test_few_rules_are_cited_where_the_first_stand_out(scores, about, cited):
    hits = [
        Hit(Passage("x", f"1.{rank}", "x", "rule", "", "", ""), rank, score, ("dense",))
        for rank, score in enumerate(scores, 1)
    ]
    assert near_best(hits, about) == hits[:cited]
