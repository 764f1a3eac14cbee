"""From a question to the rules that decide it.

Numbers in the question are looked up. Beside that, dense and lexical scores are each set against
what all passages score (z), added, and lifted where the question names a rule's heading, where
the rules around it fit as well, and where a good hit refers to it. The first of them are compared
with the question word by word; a reader, if there is one, then reads them with the question.

>>> Searcher.open().search("does my trampler need to kill both blockers?")[0].passage.number
'702.19b'
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from index import library, numbers, store
from index.editions import Rulebook
from index.embed import DEFAULT, Embedder, Progress
from index.errors import SticklerError
from index.hits import Evidence, Found, Hit, Via
from index.lexical import Headings, Vocabulary, stems
from index.passages import Passage, passages
from index.rerank import DEFAULT as RERANKER
from index.rerank import READ, Reranker, first, named, reread
from index.store import View
from index.wording import COMPARED, Wording

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LONGEST_QUESTION = 4000  # characters


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sort of evidence counts, in units of a dense score's spread."""

    dense: float = 1.0
    lexical: float = 0.3
    heading: float = 0.7  # the question names the heading that the rule stands under
    around: float = 0.2  # share of the best score among the rules of the same group
    example: float = -0.5  # an example speaks for its rule, but less surely than the rule itself
    reference: float = 0.1  # share of a good hit's score for a rule that it refers to
    wording: float = 6.0  # how well the rule takes up the question's words
    reading: float = 0.15  # how sure the reader is that the rule decides (a logit)
    number: float = 100.0  # a rule asked for by number goes before all others


class _Scored(NamedTuple):
    score: float
    passage: Passage
    via: tuple[Via, ...]


class Searcher:
    """Searches the editions of a rulebook; loaded once, asked often."""

    def __init__(
        self,
        book: Rulebook,
        index: store.Store,
        embedder: Embedder,
        weights: Weights | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.book = book
        self.index = index
        self.embedder = embedder
        self.reranker = reranker
        self.weights = weights or Weights()
        self._views: dict[str, _ViewSearch] = {}
        self._wording = Wording(embedder)

    @classmethod
    def open(
        cls, embedder: str = DEFAULT, progress: Progress | None = None, reranker: str = RERANKER
    ) -> "Searcher":
        book, model, reader = library.load(), Embedder(embedder), named(reranker)
        return cls(book, store.open_store(book, model, progress), model, reranker=reader)

    @cached_property
    def unread(self) -> "Searcher":
        """The same without a reader, for those who cannot wait for it."""
        if self.reranker is None:
            return self
        return Searcher(self.book, self.index, self.embedder, self.weights)

    def load(self) -> None:
        """Load now what the first question would wait for."""
        _ = self.embedder.model
        if self.reranker:
            self.reranker.load()

    def search(
        self,
        question: str,
        k: int = 10,
        edition: str | None = None,
        masked: Collection[str] = (),
    ) -> list[Hit]:
        """The k best rules, each number once; passages whose id is masked do not exist."""
        return self.search_many([question], k, edition, [masked])[0]

    def search_many(
        self,
        questions: Sequence[str],
        k: int = 10,
        edition: str | None = None,
        masked: Sequence[Collection[str]] | None = None,
    ) -> list[list[Hit]]:
        """As `search`, for many questions at once: they are embedded together."""
        return [found.hits for found in self.find_many(questions, k, edition, masked)]

    def find_many(
        self,
        questions: Sequence[str],
        k: int = 10,
        edition: str | None = None,
        masked: Sequence[Collection[str]] | None = None,
    ) -> list[Found]:
        """As `search_many`, with what search knows of its own result."""
        for question in questions:
            check(question)
        if k < 1:
            raise SticklerError(f"Cannot find {k} rules: ask for at least one.")
        view = self._view(edition)
        asked = self.embedder.read_questions(questions)
        hidden = masked or [()] * len(questions)
        reach = max(k, COMPARED, READ if self.reranker else 0)
        found = [
            view.search(question, vector, reach, frozenset(ids))
            for question, (vector, _), ids in zip(questions, asked, hidden, strict=True)
        ]
        if self.weights.wording:
            texts = [
                [view.text(hit, ids) for hit in first(one, COMPARED)]
                for one, ids in zip(found, hidden, strict=True)
            ]
            found = self._wording.compared(self.weights.wording, asked, found, texts)
        if self.reranker is not None:
            found = reread(self.reranker, self.weights.reading, view.book, questions, found, k)
        return [one._replace(hits=one.hits[:k]) for one in found]

    def _view(self, edition: str | None) -> "_ViewSearch":
        view = self.index.view(self.book, edition)
        if view.book.name not in self._views:
            self._views[view.book.name] = _ViewSearch(view, self.weights)
        return self._views[view.book.name]


class _ViewSearch:
    """The search of one edition."""

    def __init__(self, view: View, weights: Weights) -> None:
        headings = {rule.heading for rule in view.book.rules if rule.is_heading}
        self.book = self._book = view.book
        self._view = view
        self._weights = weights
        self._vocabulary = Vocabulary(headings)
        self._headings = Headings(headings)

    @cached_property
    def _all(self) -> dict[str, Passage]:
        """Every rule's own passage by number, bare headings too."""
        return {p.number: p for p in passages(self._book) if p.kind == "rule"}

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        """Each number's rows in the index."""
        rows: dict[str, list[int]] = {}
        for row, passage in enumerate(self._view.passages):
            rows.setdefault(passage.number, []).append(row)
        return rows

    @cached_property
    def _spread(self) -> tuple["Floats", "Floats"]:
        """Mean and covariance of all vectors: they give the mean and spread of any question's
        scores without scoring every passage."""
        import numpy as np

        index = self._view.vectors
        vectors = index.reconstruct_n(0, index.ntotal)
        return vectors.mean(axis=0), np.cov(vectors, rowvar=False, bias=True)

    def text(self, hit: Hit, masked: Collection[str]) -> str:
        """A rule as it is embedded, also where search found it by its example."""
        own = self._all.get(hit.passage.number)
        shown = own is not None and own.embedded and own.id not in masked
        return own.embedded if own and shown else hit.passage.embedded

    def search(self, question: str, vector: "Floats", k: int, masked: frozenset[str]) -> Found:
        words = stems(self._vocabulary.translate(question))
        named = self._headings.named(words)
        scored, similarity = self._by_meaning(words, named, vector, k, masked)
        found = self._by_number(question, k, masked) + scored
        weights = {word: self._view.words.weight(word) for word in words}
        unknown = frozenset(word for word in words if not self._view.words.knows(word))
        evidence = Evidence(similarity, weights, unknown, frozenset(named), vector)
        best: dict[str, _Scored] = {}
        for one in sorted(found, key=lambda each: -each.score):
            best.setdefault(one.passage.number, one)
        hits = [
            Hit(one.passage, rank, round(one.score, 4), one.via)
            for rank, one in enumerate(list(best.values())[:k], 1)
        ]
        return Found(hits, evidence)

    def _by_number(self, question: str, k: int, masked: frozenset[str]) -> list[_Scored]:
        """The rules whose numbers stand in the question, each with what is below it."""
        wanted = numbers.asked(question) or [
            n for n in numbers.references(question) if n in self._book
        ]
        found: dict[str, Passage] = {}
        for number in wanted:
            below = [rule.number for rule in self._book.subrules(number)] if number else []
            for each in [number, *below][: k + 1]:
                passage = self._all.get(each)
                if passage is not None and passage.id not in masked:
                    found[each] = passage
        return [
            _Scored(self._weights.number - 0.01 * place, passage, ("number",))
            for place, passage in enumerate(found.values())
        ]

    def _by_meaning(
        self, words: list[str], named: set[str], vector: "Floats", k: int, masked: frozenset[str]
    ) -> tuple[list[_Scored], float]:
        import numpy as np

        weights, view = self._weights, self._view
        lexical = _z(view.words.scores(words))
        reach = min(max(10 * k, 200), len(view.passages))
        _, nearest = view.vectors.search(vector[None, :], reach)
        dense_first = [row for row in nearest[0].tolist() if row >= 0]
        lexical_first = np.argpartition(-lexical, reach - 1)[:reach].tolist()
        rows = self._visible(dense_first + lexical_first, masked)
        similar = view.vectors.reconstruct_batch(np.array(rows, dtype="int64")) @ vector
        dense = self._dense_z(vector, similar)
        scores = weights.dense * dense + weights.lexical * lexical[rows]
        best: dict[str, tuple[float, int]] = {}
        for row, score in zip(rows, scores.tolist(), strict=True):
            passage = view.passages[row]
            score += weights.example * (passage.kind == "example")
            score += weights.heading * (passage.heading in named)
            if passage.number not in best or best[passage.number][0] < score:
                best[passage.number] = (score, row)
        around: dict[str, float] = {}
        for number, (score, _) in best.items():
            group = _group(number)
            around[group] = max(around.get(group, score), score)
        total = {n: s + weights.around * around[_group(n)] for n, (s, _) in best.items()}
        referred = self._follow(total, masked)
        for number, gain in referred.items():
            total[number] += gain
        top = _first(dense, rows), _first(lexical[rows], rows)
        scored = [
            _Scored(
                total[number],
                view.passages[best[number][1]],
                _via(self._rows[number], top, number in referred),
            )
            for number in sorted(total, key=lambda n: -total[n])[:k]
        ]
        return scored, float(similar.max())

    def _follow(self, total: dict[str, float], masked: frozenset[str]) -> dict[str, float]:
        """What a rule gains from being named by one of the three best."""
        gains: dict[str, float] = {}
        for number in sorted(total, key=lambda n: -total[n])[:3]:
            rule = self._book.by_number.get(number)
            if rule is None or f"{rule.edition}/{number}" in masked:
                continue
            for other in numbers.references(rule.text):
                if other in total and other != number:
                    gain = self._weights.reference * max(total[number], 0.0)
                    gains[other] = max(gains.get(other, 0.0), gain)
        return gains

    def _visible(self, rows: list[int], masked: frozenset[str]) -> list[int]:
        known = list(dict.fromkeys(rows))
        if not masked:
            return known
        return [row for row in known if self._view.passages[row].id not in masked]

    def _dense_z(self, vector: "Floats", similar: "Floats") -> "Floats":
        import numpy as np

        mean, covariance = self._spread
        spread = np.sqrt(max(float(vector @ covariance @ vector), 1e-12))
        result: Floats = (similar - vector @ mean) / spread
        return result


def check(question: str) -> None:
    """What a question must be to be searched for."""
    if not question.strip():
        raise SticklerError("The question is empty: ask something.")
    if len(question) > LONGEST_QUESTION:
        raise SticklerError(
            f"The question has {len(question)} characters: ask in at most {LONGEST_QUESTION}."
        )


def _z(scores: "Floats") -> "Floats":
    spread = float(scores.std())
    result: Floats = (scores - scores.mean()) / (spread if spread > 1e-9 else 1.0)
    return result


@cache
def _group(number: str) -> str:
    return numbers.group(number) if numbers.is_number(number) else number


def _first(scores: "Floats", rows: list[int]) -> set[int]:
    """The twenty rows that score best."""
    import numpy as np

    return {rows[at] for at in np.argsort(-scores)[:20].tolist()}


def _via(rows: list[int], top: tuple[set[int], set[int]], referred: bool) -> tuple[Via, ...]:
    dense, lexical = (any(row in those for row in rows) for those in top)
    paths: list[tuple[Via, bool]] = [
        ("dense", dense),
        ("lexical", lexical),
        ("reference", referred),
    ]
    return tuple(name for name, used in paths if used) or ("dense",)
