"""The part of an answer that needs no model: the deciding rules, quoted, or a refusal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from index.embedder import Embedder
from index.hits import Hit, SearchResult
from index.rulebook import Edition, Rule
from qa import citations, compose, open_condition
from qa.answer import Answer
from qa.confidence import confidence
from qa.out_of_scope import OutOfScope


class Draft(NamedTuple):
    """An answer before a model is asked, with the rules it cites and their deciding sentences."""

    answer: Answer
    rules: list[Rule]
    quotes: list[str]

    @property
    def asked(self) -> str:
        """The question as it was understood."""
        return self.answer.standalone_question or self.answer.question

    @property
    def wants_model(self) -> bool:
        """True if a model may add to it.

        It may not add to a refusal or a look-up, or if it would have to guess what the question
        leaves open.
        """
        settled = not self.answer.abstained and self.answer.open_condition is None
        return settled and bool(self.rules)


def draft_answers(
    answers: Sequence[Answer],
    results: Sequence[SearchResult],
    edition: Edition,
    out_of_scope: OutOfScope,
    embedder: Embedder,
    max_citations: int,
) -> list[Draft]:
    """Each answer with its search result: the deciding rules quoted, or a refusal."""
    rules = [_rules_to_cite(result.hits, edition, max_citations) for result in results]
    vectors = [result.features.vector for result in results]
    quotes = citations.decisive(vectors, rules, embedder)
    found = [
        Draft(replace(answer, hits=tuple(result.hits)), own, decisive)
        for answer, result, own, decisive in zip(answers, results, rules, quotes, strict=True)
    ]
    return [
        _quoted_or_refused(draft, result, edition, out_of_scope)
        for draft, result in zip(found, results, strict=True)
    ]


def _rules_to_cite(hits: Sequence[Hit], edition: Edition, about: int) -> list[Rule]:
    """The rules to cite: those whose scores are close to the best."""
    by_number = edition.by_number
    known = [hit for hit in hits if hit.passage.number in by_number]
    return [by_number[hit.passage.number] for hit in citations.near_best(known, about)]


def _quoted_or_refused(
    draft: Draft, result: SearchResult, edition: Edition, out_of_scope: OutOfScope
) -> Draft:
    """The draft with the text that its rules give, or a refusal where they do not settle it."""
    neighbour = out_of_scope.nearest(result.features.vector)
    sure = confidence(result.hits, result.features, neighbour, edition.is_whole)
    if sure.enough and draft.rules:
        return draft._replace(answer=_quoted(draft, sure.rule_cited, edition))
    text, reason = compose.abstained(draft.rules, neighbour, edition)
    answer = replace(
        draft.answer,
        text=text,
        reason=reason,
        confidence=round(sure.answerable, 3),
        abstained=True,
    )
    return draft._replace(answer=answer)


def _quoted(draft: Draft, found: float, edition: Edition) -> Answer:
    """The answer that quotes the draft's rules, and names the condition that they leave open."""
    text, cited = compose.quoted(draft.rules, draft.quotes)
    left_open = _open_condition(draft, edition)
    return replace(
        draft.answer,
        text="\n".join(filter(None, [text, compose.branches(left_open)])),
        citations=cited,
        confidence=round(found, 3),
        open_condition=left_open,
    )


def _open_condition(draft: Draft, edition: Edition) -> open_condition.OpenCondition | None:
    by_number = edition.by_number
    numbers = [hit.passage.number for hit in draft.answer.hits]
    found = [by_number[number] for number in numbers if number in by_number]
    return open_condition.find(draft.asked, found, len(draft.rules))
