"""The stages of search over one edition: candidates -> fuse -> boost, and rerank.

candidates  the nearest passages by FAISS and by BM25, and the rules with the nearest questions
fuse        the weighted sum of both z-scores (over all passages, or all questions), with a bonus
            if the question names the heading and penalties for examples, pointers, other formats
boost       a bonus if neighbouring rules match as well, and if a good hit refers to the rule
rerank      reorders the top hits after adding another score, such as MaxSim's
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from index import numbers
from index.bm25 import stems
from index.expansion import NONE, Expansion, NearestQuestions
from index.hits import Hit, SearchFeatures, SearchResult, Via
from index.passages import Passage, passages
from index.store import View
from index.vocabulary import Headings, Vocabulary, names_format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_REFERRING_RULES = 3  # how many of the best rules have their references followed
_VIA_TOP = 20  # candidates for which dense search or BM25 is named in `via`
_VARIANT_CHAPTERS = "89"  # chapters: multiplayer rules and casual variants


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """The weight of each kind of evidence, in standard deviations of the dense score."""

    dense: float = 1.0
    bm25: float = 0.3
    question: float = 0.0  # added to the score of a rule's questions; -inf ignores the questions
    heading: float = 0.7  # the question names the heading that the rule stands under
    around: float = 0.2  # share of the best score among the rules of the same group
    example: float = -0.5  # an example is weaker evidence for its rule than the rule's own text
    pointer: float = -3.0  # a glossary entry that points to a heading decides nothing
    other_format: float = -1.0  # a rule of a format that the question does not speak of
    reference: float = 0.1  # share of a good hit's score for a rule that it refers to
    maxsim: float = 6.0  # how well the rule matches the question's tokens
    number: float = 100.0  # a rule requested by number comes before all others


class Query(NamedTuple):
    """A question, prepared for the stages."""

    text: str
    terms: list[str]  # stems, with slang translated into the rulebook's words
    headings: set[str]  # that it names
    names_format: bool  # it mentions Commander, teams or the like
    vector: "Floats"
    masked: frozenset[str]  # ids of passages hidden from it
    questions: NearestQuestions = NONE  # the nearest expansion questions


class Candidates(NamedTuple):
    """Rows of a view to score, with their dense and BM25 scores."""

    rows: list[int]
    similarity: "Floats"  # cosine of the question and the passage
    dense: "Floats"  # z-scores
    bm25: "Floats"


class Scored(NamedTuple):
    score: float
    passage: Passage
    via: tuple[Via, ...]


class ViewSearch:
    """The stages over one edition."""

    def __init__(
        self, view: View, weights: ScoreWeights, expansion: Expansion | None = None
    ) -> None:
        headings = {rule.heading for rule in view.edition.rules if rule.is_heading}
        self._edition = view.edition
        self._view = view
        self._weights = weights
        self.expansion = expansion
        self._vocabulary = Vocabulary(headings)
        self._headings = Headings(headings)

    @cached_property
    def _rules(self) -> dict[str, Passage]:
        """Every rule's own passage by number, bare headings too."""
        return {p.number: p for p in passages(self._edition) if p.kind == "rule"}

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        """Each number's rows in the index."""
        rows: dict[str, list[int]] = {}
        for row, passage in enumerate(self._view.passages):
            rows.setdefault(passage.number, []).append(row)
        return rows

    @cached_property
    def _own_rows(self) -> dict[str, int]:
        """The row of each rule's own text."""
        return {p.number: row for row, p in enumerate(self._view.passages) if p.kind == "rule"}

    @cached_property
    def _spread(self) -> tuple["Floats", "Floats"]:
        """Mean and covariance of all vectors, which give the mean and deviation of any question's
        scores without scoring every passage."""
        import numpy as np

        index = self._view.vectors
        vectors = index.reconstruct_n(0, index.ntotal)
        return vectors.mean(axis=0), np.cov(vectors, rowvar=False, bias=True)

    def text(self, hit: Hit, masked: Collection[str]) -> str:
        """The embedded text of a rule, even if search found it through an example."""
        own = self._rules.get(hit.passage.number)
        shown = own is not None and own.embedded and own.id not in masked
        return own.embedded if own and shown else hit.passage.embedded

    def search(
        self, question: str, vector: "Floats", k: int, masked: frozenset[str]
    ) -> SearchResult:
        """All stages but the last, which takes many questions at once."""
        terms = stems(self._vocabulary.translate(question))
        named = self._headings.named(terms)
        nearest = self.expansion.nearest(vector) if self.expansion else NONE
        query = Query(question, terms, named, names_format(question), vector, masked, nearest)
        candidates = self.candidates(query, k)
        best = self.fuse(query, candidates)
        scored = self.boost(query, candidates, best, k)
        ranked: dict[str, Scored] = {}
        for one in sorted(self.look_up(query, k) + scored, key=lambda each: -each.score):
            ranked.setdefault(one.passage.number, one)
        hits = [
            Hit(one.passage, rank, round(one.score, 4), one.via)
            for rank, one in enumerate(list(ranked.values())[:k], 1)
        ]
        return SearchResult(hits, self._features(query, candidates))

    def look_up(self, query: Query, k: int) -> list[Scored]:
        """The rules that the question names by number, each with its subrules."""
        wanted = numbers.asked(query.text) or [
            n for n in numbers.references(query.text) if n in self._edition
        ]
        found: dict[str, Passage] = {}
        for number in wanted:
            below = [rule.number for rule in self._edition.subrules(number)] if number else []
            for each in [number, *below][: k + 1]:
                passage = self._rules.get(each)
                if passage is not None and passage.id not in query.masked:
                    found[each] = passage
        return [
            Scored(self._weights.number - 0.01 * place, passage, ("number",))
            for place, passage in enumerate(found.values())
        ]

    def candidates(self, query: Query, k: int) -> Candidates:
        """The top rows by FAISS, BM25 or expansion questions, each with all scores."""
        import numpy as np

        view = self._view
        bm25 = _z(view.bm25.scores(query.terms))
        reach = min(max(10 * k, 200), len(view.passages))
        _, nearest = view.vectors.search(query.vector[None, :], reach)
        by_dense = [row for row in nearest[0].tolist() if row >= 0]
        by_bm25 = np.argpartition(-bm25, reach - 1)[:reach].tolist()
        questions = self._by_questions(query)
        rows = [
            row
            for row in dict.fromkeys(by_dense + by_bm25 + list(questions))
            if view.passages[row].id not in query.masked
        ]
        similarity = view.vectors.reconstruct_batch(np.array(rows, dtype="int64")) @ query.vector
        dense = self._dense_z(query.vector, similarity)
        of_questions = np.array([questions.get(row, -np.inf) for row in rows], dtype="float32")
        dense = np.maximum(dense, of_questions + np.float32(self._weights.question))
        return Candidates(rows, similarity, dense, bm25[rows])

    def _by_questions(self, query: Query) -> dict[int, float]:
        """The rows of the rules whose questions come nearest, and how near."""
        if self._weights.question == -math.inf:
            return {}
        scores = query.questions.scores
        return {self._own_rows[n]: score for n, score in scores.items() if n in self._own_rows}

    def fuse(self, query: Query, candidates: Candidates) -> dict[str, tuple[float, int]]:
        """Each rule's best score and the row that has it, with the row's bonuses and penalties."""
        weights = self._weights
        scores = weights.dense * candidates.dense + weights.bm25 * candidates.bm25
        scores = scores + self._penalties[int(query.names_format)][candidates.rows]
        best: dict[str, tuple[float, int]] = {}
        for row, score in zip(candidates.rows, scores.tolist(), strict=True):
            passage = self._view.passages[row]
            if passage.heading in query.headings:
                score += weights.heading
            if passage.number not in best or best[passage.number][0] < score:
                best[passage.number] = (score, row)
        return best

    @cached_property
    def _penalties(self) -> "Floats":
        """Each row's penalty in questions that name no other format, and in those that do."""
        import numpy as np

        weights = self._weights
        passages = self._view.passages
        own = [
            weights.example * (passage.kind == "example")
            + weights.pointer * self._only_points(passage)
            for passage in passages
        ]
        variants = [
            weights.other_format * (passage.number[0] in _VARIANT_CHAPTERS) for passage in passages
        ]
        return np.array([np.add(own, variants), own], dtype="float32")

    def _only_points(self, passage: Passage) -> bool:
        """Whether it is a glossary entry that only refers to a heading or to an absent rule."""
        if passage.kind != "glossary":
            return False
        rule = self._rules.get(passage.number)
        return rule is None or not rule.embedded

    def boost(
        self, query: Query, candidates: Candidates, best: Mapping[str, tuple[float, int]], k: int
    ) -> list[Scored]:
        """The k best candidate rules, with the bonuses for neighbours and references."""
        around: dict[str, float] = {}
        for number, (score, _) in best.items():
            group = numbers.group(number)
            around[group] = max(around.get(group, score), score)
        total = {
            number: score + self._weights.around * around[numbers.group(number)]
            for number, (score, _) in best.items()
        }
        referred = self._referred(total, query.masked)
        for number, gain in referred.items():
            total[number] += gain
        dense = _top(candidates.dense, candidates.rows)
        bm25 = _top(candidates.bm25, candidates.rows)
        return [
            Scored(
                total[number],
                self._view.passages[best[number][1]],
                _via(self._rows[number], dense, bm25, number in referred),
            )
            for number in nlargest(k, total, key=total.__getitem__)
        ]

    def _referred(self, total: Mapping[str, float], masked: frozenset[str]) -> dict[str, float]:
        """What a rule gains from being named by one of the best."""
        gains: dict[str, float] = {}
        for number in nlargest(_REFERRING_RULES, total, key=total.__getitem__):
            rule = self._edition.by_number.get(number)
            if rule is None or rule.passage_id in masked:
                continue
            for other in numbers.references(rule.text):
                if other in total and other != number:
                    gain = self._weights.reference * max(total[number], 0.0)
                    gains[other] = max(gains.get(other, 0.0), gain)
        return gains

    def _features(self, query: Query, candidates: Candidates) -> SearchFeatures:
        bm25 = self._view.bm25
        return SearchFeatures(
            similarity=float(candidates.similarity.max()),
            nearest_question=query.questions.similarity,
            term_weights={term: bm25.weight(term) for term in query.terms},
            unknown_terms=frozenset(term for term in query.terms if not bm25.knows(term)),
            named_headings=frozenset(query.headings),
            vector=query.vector,
        )

    def _dense_z(self, vector: "Floats", similarity: "Floats") -> "Floats":
        import numpy as np

        mean, covariance = self._spread
        spread = np.sqrt(max(float(vector @ covariance @ vector), 1e-12))
        result: Floats = (similarity - vector @ mean) / spread
        return result


def first(result: SearchResult, count: int) -> list[Hit]:
    """The top hits, excluding those requested by number."""
    return [hit for hit in result.hits if "number" not in hit.via][:count]


def rerank(result: SearchResult, scores: Mapping[str, float], weight: float) -> SearchResult:
    """The hits, reordered after adding these scores, which are given by rule number.

    Scores are centred on their mean, so that the totals stay on the same scale. Rules requested by
    number stay in front; those without a score stay behind.
    """
    mean = sum(scores.values()) / max(1, len(scores))
    rescored = [
        replace(hit, score=round(hit.score + weight * (scores[hit.passage.number] - mean), 4))
        for hit in result.hits
        if hit.passage.number in scores
    ]
    others = [hit for hit in result.hits if hit.passage.number not in scores]
    by_number = [hit for hit in others if "number" in hit.via]
    lowest = min((hit.score for hit in rescored), default=math.inf)  # none behind may score more
    behind = [
        replace(hit, score=min(hit.score, lowest)) for hit in others if "number" not in hit.via
    ]
    ranked = [*by_number, *sorted(rescored, key=lambda hit: -hit.score), *behind]
    return result._replace(hits=[replace(hit, rank=rank) for rank, hit in enumerate(ranked, 1)])


def _z(scores: "Floats") -> "Floats":
    spread = float(scores.std())
    result: Floats = (scores - scores.mean()) / (spread if spread > 1e-9 else 1.0)
    return result


def _top(scores: "Floats", rows: list[int]) -> set[int]:
    """The rows that score best."""
    import numpy as np

    return {rows[at] for at in np.argsort(-scores)[:_VIA_TOP].tolist()}


def _via(rows: list[int], dense: set[int], bm25: set[int], referred: bool) -> tuple[Via, ...]:
    paths: list[tuple[Via, bool]] = [
        ("dense", not dense.isdisjoint(rows)),
        ("lexical", not bm25.isdisjoint(rows)),
        ("reference", referred),
    ]
    return tuple(name for name, used in paths if used) or ("dense",)
