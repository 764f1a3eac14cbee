"""Turns a question into an answer with checked citations: `Assistant.ask` and `ask_stream`.

The quoted rules come first: those that search found, with the deciding sentence of each. The
language model's reading of them follows: yes, no or unclear, and those of its sentences that the
cited rule supports.

>>> Assistant(Settings()).ask("can a flyer be blocked by reach?").cited[0].number
'702.17b'
"""

import hashlib
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from index.errors import SticklerError
from index.hits import SearchResult
from index.rulebook import Edition
from qa import generation, lookup, models, verdict
from qa.answer import Answer
from qa.conversation import standalone
from qa.draft import Draft, draft_answers
from qa.resources import Resources
from qa.settings import Settings
from qa.timing import Stopwatch

if TYPE_CHECKING:
    from index.embedder import Vectors


class Assistant:
    """Answers questions with one set of settings; everything loaded belongs to `resources`."""

    def __init__(
        self, settings: Settings | None = None, resources: Resources | None = None
    ) -> None:
        self.settings = settings or Settings()
        self.resources = resources or Resources(self.settings.embedder)

    @cached_property
    def edition(self) -> Edition:
        """The edition it answers from; raises SticklerError if there is none of that name."""
        return self.resources.rulebook.edition(self.settings.edition)

    @property
    def model(self) -> models.Model | None:
        """The language model in use, if any."""
        return self._model_in_use()[0]

    def load(self) -> None:
        """Load everything now, so that the first question does not have to wait."""
        self.resources.load_search()
        self._model_in_use()
        _ = self.resources.searcher
        self.resources.out_of_scope(self.settings.edition)

    def ask(
        self, question: str, before: Sequence[str] = (), masked: Collection[str] = (), id: str = ""
    ) -> Answer:
        """The answer to a question; `before` are the questions of the conversation so far."""
        *_, last = self.ask_stream(question, before, masked, id)
        assert isinstance(last, Answer)
        return last

    def ask_stream(
        self,
        question: str,
        before: Sequence[str] = (),
        masked: Collection[str] = (),
        id: str = "",
        stop: threading.Event | None = None,
    ) -> Iterator[Answer | str]:
        """Yield the quoted rules as an Answer, then with a verdict, then words, then the whole."""
        stopwatch = Stopwatch()
        understood = standalone(question, before)
        asked = understood or question
        answer = replace(self._new_answer(question, id), standalone_question=understood)
        if (looked_up := self._look_up(answer, asked, masked)) is not None:
            yield replace(looked_up, timings=stopwatch.timings())
            return
        results = self._search([asked], [masked])
        stopwatch.lap("search_ms")
        [draft] = self._draft([answer], results, [masked])
        yield replace(draft.answer, timings=stopwatch.timings())
        if not draft.wants_model or (model := self.model) is None:
            return
        request, context = generation.request(draft, self.settings, model)
        pieces: list[models.Piece] = []
        failure = None
        try:
            for piece in model.stream(request, stop or threading.Event()):
                stopwatch.lap("first_token_ms")
                pieces.append(piece)
                if isinstance(piece, str):
                    yield piece
                elif not isinstance(piece, float):
                    judged = verdict.from_probabilities(piece, model.name)
                    with_verdict = generation.with_verdict(draft.answer, judged)
                    yield replace(with_verdict, timings=stopwatch.timings())
        except SticklerError as error:
            failure = generation.FAILED.format(error)
        whole = self._with_generated(draft, models.collect(pieces), context, model)
        yield replace(whole, reason=failure or whole.reason, timings=stopwatch.timings())

    def ask_many(
        self,
        questions: Sequence[str],
        ids: Sequence[str] = (),
        masked: Sequence[Collection[str]] = (),
    ) -> list[Answer]:
        """Like `ask` for each, but search and generation are batched. One failure fails all."""
        if not questions:
            return []
        stopwatch = Stopwatch()
        answers = self.generate_many(self.draft_many(questions, ids, masked))
        share = {name: round(ms / len(answers), 1) for name, ms in stopwatch.timings().items()}
        return [replace(answer, timings=share) for answer in answers]

    def draft_many(
        self,
        questions: Sequence[str],
        ids: Sequence[str] = (),
        masked: Sequence[Collection[str]] = (),
    ) -> list[Draft]:
        """The quoted rules for each question, before a model is asked."""
        hidden = masked or [()] * len(questions)
        answers = [
            self._new_answer(question, own)
            for question, own in zip(questions, ids or [""] * len(questions), strict=True)
        ]
        drafts = {
            place: Draft(looked_up, [], [])
            for place, answer in enumerate(answers)
            if (looked_up := self._look_up(answer, answer.question, hidden[place])) is not None
        }
        rest = [place for place in range(len(answers)) if place not in drafts]
        if rest:
            asked, hidden = [answers[at] for at in rest], [hidden[at] for at in rest]
            results = self._search([answer.question for answer in asked], hidden)
            drafts |= zip(rest, self._draft(asked, results, hidden), strict=True)
        return [drafts[place] for place in range(len(answers))]

    def with_similar_questions(self, draft: Draft, vector: "Vectors") -> Draft:
        """The draft with the most similar answered questions of the rules in the model's prompt.

        `vector` is the question's. A refusal gets none.
        """
        settings = self.settings
        if draft.answer.abstained:
            return draft
        similar = self.resources.searcher.similar_questions(
            vector,
            [rule.number for rule in draft.rules[: settings.context_rules]],
            settings.max_similar_questions,
            settings.edition,
        )
        return draft._replace(answer=replace(draft.answer, similar_questions=tuple(similar)))

    def generate_many(self, drafts: Sequence[Draft]) -> list[Answer]:
        """Each draft's answer with the model's output added; a refusal is left unchanged."""
        answers = [draft.answer for draft in drafts]
        asked = [at for at, draft in enumerate(drafts) if draft.wants_model]
        model = self.model if asked else None
        if model is None:
            return answers
        requests = [generation.request(drafts[at], self.settings, model) for at in asked]
        generated = generation.generate([request for request, _ in requests], model)
        for at, said, (_, context) in zip(asked, generated, requests, strict=True):
            if isinstance(said, SticklerError):
                answers[at] = replace(answers[at], reason=generation.FAILED.format(said))
            else:
                answers[at] = self._with_generated(drafts[at], said, context, model)
        return answers

    def read_many(self, drafts: Sequence[Draft]) -> list[models.Probabilities | None]:
        """The model's probabilities of starting its answer to each draft with yes and with no.

        None for a refusal, or if the model does not report them.
        """
        model = self.model
        asked = [at for at, draft in enumerate(drafts) if draft.wants_model and model]
        requests = [
            replace(generation.request(drafts[at], self.settings, model)[0], limit=0)
            for at in asked
            if model
        ]
        found = model.generate(requests) if model and requests else []
        by_place = {at: each.probabilities for at, each in zip(asked, found, strict=True)}
        return [by_place.get(at) for at in range(len(drafts))]

    def _model_in_use(self) -> tuple[models.Model | None, str | None]:
        """The model in use, and a notice if the default model is not available."""
        if not self.settings.uses_model:
            return None, None
        try:
            return self.resources.model(self.settings.model), None
        except SticklerError as error:
            if self.settings.model != models.DEFAULT:
                raise  # a model named by the user is required
            return None, str(error)

    def _new_answer(self, question: str, id: str) -> Answer:
        """An empty answer."""
        return Answer(
            question=question,
            edition=self.settings.edition,
            settings=self.settings.hash,
            id=id or hashlib.sha256(question.encode()).hexdigest()[:12],
        )

    def _look_up(self, answer: Answer, asked: str, masked: Collection[str]) -> Answer | None:
        """The answer if a rule is requested by number or name; this loads nothing."""
        rules = lookup.rules(asked, self.edition, masked)
        if not rules:
            return None
        text, cited = lookup.text(rules)
        hits = lookup.hits(rules, self.edition)
        return replace(answer, text=text, citations=cited, hits=hits)

    def _search(
        self, questions: Sequence[str], masked: Sequence[Collection[str]]
    ) -> list[SearchResult]:
        settings = self.settings
        return self.resources.searcher.search(questions, settings.top_k, settings.edition, masked)

    def _draft(
        self,
        answers: Sequence[Answer],
        results: Sequence[SearchResult],
        masked: Sequence[Collection[str]],
    ) -> list[Draft]:
        """Each answer with the quoted rules only, and the name of the model that may add to it.

        If a passage is masked, similar questions are left out, because they might reveal it.
        """
        model, notice = self._model_in_use()
        name = model.name if model else models.NONE
        drafts = draft_answers(
            [replace(answer, model=name, reason=notice) for answer in answers],
            results,
            self.edition,
            self.resources.out_of_scope(self.settings.edition),
            self.resources.embedder,
            self.settings.max_citations,
        )
        return [
            draft if hidden else self.with_similar_questions(draft, result.features.vector)
            for draft, result, hidden in zip(drafts, results, masked, strict=True)
        ]

    def _with_generated(
        self,
        draft: Draft,
        said: models.Generation,
        context: generation.Context,
        model: models.Model,
    ) -> Answer:
        """The draft's answer with the model's output, checked against what it was shown."""
        embedder = self.resources.embedder
        return generation.with_generated(draft, said, context, model.name, self.edition, embedder)
