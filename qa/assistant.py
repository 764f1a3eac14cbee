"""From a question to an answer with checked citations: `Assistant.ask` and `ask_stream`.

Evidence decides and is shown first: the rules that search found, the decisive sentence of each word
for word. Then comes the language model's reading of them: yes, no or unclear, and of its sentences
those that the rule which they cite supports.

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
    """Answers questions with one set of settings; what it loads belongs to its resources."""

    def __init__(
        self, settings: Settings | None = None, resources: Resources | None = None
    ) -> None:
        self.settings = settings or Settings()
        self.resources = resources or Resources(self.settings.embedder)

    @cached_property
    def edition(self) -> Edition:
        """The book that it answers from; SticklerError where there is none of that name."""
        return self.resources.book.edition(self.settings.edition)

    @property
    def model(self) -> models.Model | None:
        """The language model that speaks, if one does."""
        return self._speaker()[0]

    def load(self) -> None:
        """Load now what the first question would wait for."""
        self.resources.load_search()
        self._speaker()
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
        """The evidence as an Answer, the same with a verdict, the words as they come, the whole."""
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
        if not draft.is_open or (model := self.model) is None:
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
                    judged = verdict.judge(piece, model.name)
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
        """As `ask` for each: searched together and generated together. One that fails fails all."""
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
        """The evidence for each question, before a model has spoken."""
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
        """The draft with the answered questions most like it, beside the rules that a model reads.

        `vector` is the question's. A refusal has none.
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
        """Each draft's answer with what the model says to it; a refusal stays as it is."""
        answers = [draft.answer for draft in drafts]
        asked = [at for at, draft in enumerate(drafts) if draft.is_open]
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
        """How likely the model opens its answer to each draft with yes and with no.

        None for a refusal, and where the model tells nothing.
        """
        model = self.model
        asked = [at for at, draft in enumerate(drafts) if draft.is_open and model]
        requests = [
            replace(generation.request(drafts[at], self.settings, model)[0], limit=0)
            for at in asked
            if model
        ]
        found = model.generate(requests) if model and requests else []
        by_place = {at: each.probabilities for at, each in zip(asked, found, strict=True)}
        return [by_place.get(at) for at in range(len(drafts))]

    def _speaker(self) -> tuple[models.Model | None, str | None]:
        """The model that speaks, and what is to be said where the default one cannot be had."""
        if not self.settings.speaks:
            return None, None
        try:
            return self.resources.model(self.settings.model), None
        except SticklerError as error:
            if self.settings.model != models.DEFAULT:
                raise  # one that was asked for by name has to be had
            return None, str(error)

    def _new_answer(self, question: str, id: str) -> Answer:
        """An answer that is yet to be given."""
        return Answer(
            question=question,
            edition=self.settings.edition,
            settings=self.settings.hash,
            id=id or hashlib.sha256(question.encode()).hexdigest()[:12],
        )

    def _look_up(self, answer: Answer, asked: str, masked: Collection[str]) -> Answer | None:
        """The answer where a rule is asked for by number or name; nothing is loaded for it."""
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
        """Each answer as the evidence alone gives it, with the model that may add to it.

        Where a passage is masked, answers to similar questions might tell of it: none are given.
        """
        model, notice = self._speaker()
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
            draft if hidden else self.with_similar_questions(draft, result.evidence.vector)
            for draft, result, hidden in zip(drafts, results, masked, strict=True)
        ]

    def _with_generated(
        self,
        draft: Draft,
        said: models.Generation,
        context: generation.Context,
        model: models.Model,
    ) -> Answer:
        """The draft's answer with what the model said, checked against what it was shown."""
        embedder = self.resources.embedder
        return generation.with_generated(draft, said, context, model.name, self.edition, embedder)
