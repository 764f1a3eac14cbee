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
from typing import NamedTuple

from index.errors import SticklerError
from index.hits import Hit, SearchResult
from index.rulebook import Edition, Rule
from qa import (
    answer_confidence,
    citations,
    compose,
    lookup,
    models,
    open_condition,
    support,
    verdict,
)
from qa.answer import Answer
from qa.confidence import Confidence, confidence
from qa.conversation import standalone
from qa.out_of_scope import Neighbour
from qa.prompt import ShownRule, fill
from qa.resources import Resources
from qa.settings import Settings
from qa.timing import Stopwatch

_FAILED = "The language model failed: {}"


class Draft(NamedTuple):
    """An answer before a model has spoken, with the rules it cites and their decisive sentences."""

    answer: Answer
    rules: list[Rule]
    quotes: list[str]

    @property
    def is_open(self) -> bool:
        """True where a model may add to it.

        Not to a refusal, to what is read out of the book, or where it would have to guess what the
        question leaves open.
        """
        settled = not self.answer.abstained and self.answer.open_condition is None
        return settled and bool(self.rules)


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
        [draft] = self._draft([answer], results)
        yield replace(draft.answer, timings=stopwatch.timings())
        if not draft.is_open or (model := self.model) is None:
            return
        request, shown = self._request(asked, draft.rules, model)
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
                    yield replace(_with_verdict(draft.answer, judged), timings=stopwatch.timings())
        except SticklerError as error:
            failure = _FAILED.format(error)
        whole = self._add_generated(draft, asked, models.collect(pieces), shown, model)
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
            results = self._search(
                [answers[at].question for at in rest], [hidden[at] for at in rest]
            )
            drafts |= zip(rest, self._draft([answers[at] for at in rest], results), strict=True)
        return [drafts[place] for place in range(len(answers))]

    def generate_many(self, drafts: Sequence[Draft]) -> list[Answer]:
        """Each draft's answer with what the model says to it; a refusal stays as it is."""
        answers = [draft.answer for draft in drafts]
        asked = [at for at, draft in enumerate(drafts) if draft.is_open]
        model = self.model if asked else None
        if model is None:
            return answers
        requests = [self._request(answers[at].question, drafts[at].rules, model) for at in asked]
        generations = self._generate([request for request, _ in requests], model)
        for at, generation, (_, shown) in zip(asked, generations, requests, strict=True):
            if isinstance(generation, SticklerError):
                answers[at] = replace(answers[at], reason=_FAILED.format(generation))
            else:
                question = answers[at].question
                answers[at] = self._add_generated(drafts[at], question, generation, shown, model)
        return answers

    def read_many(self, drafts: Sequence[Draft]) -> list[models.Probabilities | None]:
        """How likely the model opens its answer to each draft with yes and with no.

        None for a refusal, and where the model tells nothing.
        """
        model = self.model
        asked = [at for at, draft in enumerate(drafts) if draft.is_open and model]
        requests = [
            replace(self._request(drafts[at].answer.question, drafts[at].rules, model)[0], limit=0)
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

    def _generate(
        self, requests: Sequence[models.Request], model: models.Model
    ) -> list[models.Generation | SticklerError]:
        """What the model says to each request; where it fails on all together, one by one."""
        try:
            return [*model.generate(requests)]
        except SticklerError as error:
            if len(requests) == 1:
                return [error]
            return [said for request in requests for said in self._generate([request], model)]

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

    def _draft(self, answers: Sequence[Answer], results: Sequence[SearchResult]) -> list[Draft]:
        """Each answer as the evidence alone gives it: the decisive rules quoted, or a refusal."""
        model, notice = self._speaker()
        rules = [self._rules_to_cite(result.hits) for result in results]
        vectors = [result.evidence.vector for result in results]
        quotes = citations.decisive(vectors, rules, self.resources.embedder)
        drafts = []
        for place, (answer, result) in enumerate(zip(answers, results, strict=True)):
            sure, neighbour = self._confidence(result)
            answer = replace(
                answer,
                hits=tuple(result.hits),
                model=model.name if model else models.NONE,
                reason=notice,
            )
            if sure.enough and rules[place]:
                text, cited = compose.quoted(rules[place], quotes[place])
                left_open = self._open_condition(answer, rules[place])
                answer = replace(
                    answer,
                    text="\n".join(filter(None, [text, compose.branches(left_open)])),
                    citations=cited,
                    confidence=round(sure.found, 3),
                    open_condition=left_open,
                )
            else:
                text, reason = compose.abstained(rules[place], neighbour, self.edition)
                answer = replace(
                    answer,
                    text=text,
                    reason=reason,
                    confidence=round(sure.settled, 3),
                    abstained=True,
                )
            drafts.append(Draft(answer, rules[place], quotes[place]))
        return drafts

    def _request(
        self, asked: str, rules: Sequence[Rule], model: models.Model
    ) -> tuple[models.Request, list[Rule]]:
        """What is wanted of the model, and the rules that it is shown."""
        settings = self.settings
        offered = [ShownRule.of(rule) for rule in rules[: settings.context_rules]]
        prompt, shown = fill(asked, offered, settings.prompt_tokens, model)
        request = models.Request(
            prompt,
            settings.answer_tokens,
            verdict.options(asked),
            lambda probabilities: verdict.opening(verdict.judge(probabilities, model.name)),
            tuple(shown),
        )
        return request, [rule for rule in rules if rule.number in shown]

    def _add_generated(
        self,
        draft: Draft,
        asked: str,
        generation: models.Generation,
        shown: Sequence[Rule],
        model: models.Model,
    ) -> Answer:
        """The answer with what the model said, as far as the rules that it was shown support it."""
        word, sentences = verdict.split(generation.text)
        kept, unsupported = support.supported(sentences, asked, shown, self.resources.embedder)
        judged = verdict.judge(generation.probabilities, model.name)
        if generation.probabilities is None and word and kept and verdict.options(asked):
            judged = verdict.Verdict(word)  # a back end that tells no probabilities
        answer = replace(
            _with_verdict(self._mark_again(draft, asked, sentences), judged),
            raw=generation.text,
            mean_logprob=_rounded(generation.mean_logprob),
            generated=compose.generated(kept),
            unsupported=unsupported,
        )
        right, enough = answer_confidence.judge(answer)
        answer = replace(answer, generated_confidence=right, unsure=not enough)
        reading = compose.reading(answer.verdict, answer.generated, answer.unsure)
        unverified = citations.unverified(
            generation.text,
            [rule.number for rule in shown],
            [hit.passage.number for hit in answer.hits],
            self.edition,
        )
        return replace(
            answer,
            text="\n".join(filter(None, [answer.text, reading])),
            citations=(*answer.citations, *unverified),
        )

    def _mark_again(self, draft: Draft, asked: str, said: str) -> Answer:
        """The answer with the sentences marked that come nearest to what is asked and said.

        Even a model that draws the wrong conclusion mostly speaks of the sentence that decides.
        """
        plain = " ".join(text for text, _ in support.split_sentences(said))
        if not plain:
            return draft.answer
        embedder = self.resources.embedder
        both = embedder.encode_questions([asked, plain]).sum(axis=0)
        [quotes] = citations.decisive([both], [draft.rules], embedder)
        text, cited = compose.quoted(draft.rules, quotes)
        return replace(draft.answer, text=text, citations=cited)

    def _confidence(self, result: SearchResult) -> tuple[Confidence, Neighbour]:
        out_of_scope = self.resources.out_of_scope(self.settings.edition)
        neighbour = out_of_scope.nearest(result.evidence.vector)
        return confidence(result.hits, result.evidence, neighbour), neighbour

    def _open_condition(
        self, answer: Answer, cited: Sequence[Rule]
    ) -> open_condition.OpenCondition | None:
        by_number = self.edition.by_number
        found = [by_number[h.passage.number] for h in answer.hits if h.passage.number in by_number]
        asked = answer.standalone_question or answer.question
        return open_condition.find(asked, found, len(cited))

    def _rules_to_cite(self, hits: Sequence[Hit]) -> list[Rule]:
        """The best rules themselves."""
        by_number = self.edition.by_number
        known = [hit for hit in hits if hit.passage.number in by_number]
        near = citations.near_best(known, self.settings.max_citations)
        return [by_number[hit.passage.number] for hit in near]


def _with_verdict(answer: Answer, judged: verdict.Verdict | None) -> Answer:
    if judged is None:
        return answer
    return replace(
        answer,
        verdict=judged.value,
        verdict_confidence=judged.confidence,
        yes_probability=_rounded(judged.yes),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
