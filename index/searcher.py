"""From a question to the rules that decide it.

Rules that the question names by number are looked up. All others go through the stages of
index/stages.py: candidates -> fuse -> boost, and finally rerank, which compares the top candidates
with the question token by token (MaxSim).

>>> Searcher.open().search(["does my trampler need to kill both blockers?"])[0].hits[0]
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from index import expansion, library, store
from index.editions import Rulebook
from index.embedder import DEFAULT, Embedder, Progress
from index.errors import SticklerError
from index.expansion import AnsweredQuestion, Expansion
from index.hits import SearchResult
from index.maxsim import CANDIDATES, MaxSim
from index.stages import ScoreWeights, ViewSearch, first, rerank

if TYPE_CHECKING:
    from index.embedder import Vectors

LONGEST_QUESTION = 4000  # characters


class Searcher:
    """Searches the editions of a rulebook; loaded once, asked often."""

    def __init__(
        self,
        rulebook: Rulebook,
        index: store.Store,
        embedder: Embedder,
        weights: ScoreWeights | None = None,
    ) -> None:
        self.rulebook = rulebook
        self.index = index
        self.embedder = embedder
        self.weights = weights or ScoreWeights()
        self._views: dict[str, ViewSearch] = {}
        self._maxsim = MaxSim(embedder)

    @classmethod
    def open(cls, embedder: str = DEFAULT, progress: Progress | None = None) -> "Searcher":
        """A searcher over all loaded documents; the index is built first if need be."""
        book, model = library.load(), Embedder(embedder)
        return cls(book, store.open_store(book, model, progress), model)

    def with_score_weights(self, weights: ScoreWeights) -> "Searcher":
        """The same index and embedding model, other weights."""
        other = Searcher(self.rulebook, self.index, self.embedder, weights)
        other._maxsim = self._maxsim  # the token vectors of rules are the same
        return other

    def search(
        self,
        questions: Sequence[str],
        k: int = 10,
        edition: str | None = None,
        masked: Sequence[Collection[str]] | None = None,
    ) -> list[SearchResult]:
        """The k best rules of each question, each number once; the questions are embedded together.

        `masked` gives, for each question, the ids of passages that are hidden from it.
        """
        for question in questions:
            check(question)
        if k < 1:
            raise SticklerError(f"Cannot find {k} rules: ask for at least one.")
        view = self._view(edition)
        encodings = self.embedder.encode_queries(questions)
        hidden = [frozenset(ids) for ids in masked or [()] * len(questions)]
        results = [
            view.search(question, encoding.vector, max(k, CANDIDATES), ids)
            for question, encoding, ids in zip(questions, encodings, hidden, strict=True)
        ]
        if self.weights.maxsim:
            texts = [
                {hit.passage.number: view.text(hit, ids) for hit in first(result, CANDIDATES)}
                for result, ids in zip(results, hidden, strict=True)
            ]
            scores = self._maxsim.scores(
                [encoding.tokens for encoding in encodings], [list(t.values()) for t in texts]
            )
            results = [
                rerank(result, dict(zip(by_number, those, strict=True)), self.weights.maxsim)
                for result, by_number, those in zip(results, texts, scores, strict=True)
            ]
        return [result._replace(hits=result.hits[:k]) for result in results]

    def similar_questions(
        self, vector: "Vectors", numbers: Sequence[str], count: int, edition: str | None = None
    ) -> list[AnsweredQuestion]:
        """The answered questions of these rules that are most similar to a question's vector."""
        questions = self._view(edition).expansion
        return questions.similar_questions(vector, numbers, count) if questions else []

    def _view(self, edition: str | None) -> "ViewSearch":
        view = self.index.view(self.rulebook, edition)
        if view.edition.name not in self._views:
            vectors = expansion.vectors(self.embedder.hash)
            questions = None if vectors is None else Expansion(view.edition, vectors)
            self._views[view.edition.name] = ViewSearch(view, self.weights, questions)
        return self._views[view.edition.name]


def check(question: str) -> None:
    """Raise an error if a question is empty or too long."""
    if not question.strip():
        raise SticklerError("The question is empty: ask something.")
    if len(question) > LONGEST_QUESTION:
        raise SticklerError(
            f"The question has {len(question)} characters: ask in at most {LONGEST_QUESTION}."
        )
