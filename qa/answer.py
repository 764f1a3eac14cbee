"""From a question to an answer with checked citations: `Assistant.ask` and `ask_stream`.

Evidence decides and is shown: the rules that search found, the decisive sentence of each word for
word, and of the language model's sentences those that one of these rules supports.

>>> Assistant(Settings()).ask("can a flyer be blocked by reach?").citations[0].number
'702.17b'
"""

import hashlib
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

from index import library
from index.editions import Rulebook
from index.embed import Progress
from index.errors import SticklerError
from index.hits import Found, Hit
from index.rulebook import Edition, Rule
from index.search import Searcher
from qa import citations, compose, lookup, models
from qa.citations import Citation
from qa.clock import Clock
from qa.confidence import Confidence, confidence
from qa.conversation import standalone
from qa.prompt import fill
from qa.settings import Settings
from qa.topics import Topic, Topics

VERSION = 1
_FAILED = "The language model failed: {}"


@dataclass(frozen=True, slots=True)
class Answer:
    """All that is known of one answer; its JSON is the public contract."""

    question: str
    edition: str
    settings: str  # their hash
    id: str = ""
    standalone_question: str | None = None  # a follow-up as it was understood
    verdict: str | None = None
    text: str = ""
    raw: str = ""  # what the model said, untouched
    unsupported: int = 0  # sentences of the model that no rule supports, and so are not shown
    abstained: bool = False
    reason: str | None = None  # why it abstained, or why no model spoke
    confidence: float = 1.0
    citations: tuple[Citation, ...] = ()
    hits: tuple[Hit, ...] = ()
    model: str = models.BOOK
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The model's sentences that the text opens with, if there are any."""
        first = self.citations[0].span if self.citations else None
        return self.text[: first[0]].rstrip("\n") if first else ""

    def to_json(self) -> dict[str, Any]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            "version": VERSION,
            **plain,
            "citations": [asdict(citation) for citation in self.citations],
            "hits": [hit.to_json() for hit in self.hits],
        }


class Assistant:
    """Answers questions. Search and language model are loaded when they are first needed."""

    def __init__(
        self,
        settings: Settings,
        searcher: Searcher | None = None,
        model: models.Model | None = None,
        progress: Progress | None = None,
        notice: str | None = None,  # why there is no model though one was to speak
        add: str = compose.ADD,  # how a refusal says that rules are added
    ) -> None:
        self.settings = settings
        self._progress = progress
        self._add = add
        if searcher is not None:
            self.__dict__["searcher"] = searcher
        if model is not None or notice is not None:
            self.__dict__["_loaded"] = (model, notice)

    @cached_property
    def book(self) -> Rulebook:
        return self.__dict__["searcher"].book if "searcher" in self.__dict__ else library.load()

    @cached_property
    def searcher(self) -> Searcher:
        return Searcher.open(self.settings.embedder, self._progress, self.settings.reranker)

    @cached_property
    def _loaded(self) -> tuple[models.Model | None, str | None]:
        """The model, and what is to be said where the embedded one cannot be had."""
        if not self.settings.speaks:
            return None, None
        try:
            return models.load(self.settings.model), None
        except SticklerError as error:
            return None, models.done_without(self.settings.model, error)

    @property
    def model(self) -> models.Model | None:
        """The language model that speaks, if one does."""
        return self._loaded[0]

    @property
    def notice(self) -> str | None:
        """Why none speaks though one was to."""
        return self._loaded[1]

    @cached_property
    def _edition(self) -> Edition:
        return self.book.edition(self.settings.edition)

    @cached_property
    def _topics(self) -> Topics:
        return Topics(self._edition, self.searcher.embedder, self._progress)

    def load(self) -> None:
        """Load now what the first question would wait for."""
        self.searcher.load()
        _ = (self._loaded, self._topics)

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
        """The evidence as an Answer, then the model's words as they come, then the whole Answer."""
        clock = Clock()
        answer, asked = self._begun(question, standalone(question, before), id)
        if (looked_up := self._from_book(answer, asked, masked)) is not None:
            yield replace(looked_up, timings=clock.total())
            return
        [found] = self._find([asked], [masked])
        clock.note("search_ms")
        [draft] = self._drafted([answer], [found])
        yield replace(draft.answer, timings=clock.total())
        if not draft.is_open or (model := self.model) is None:
            return
        prompt, read = self._prompt(asked, draft.rules, model)
        pieces: list[str] = []
        failure = None
        try:
            limit = self.settings.answer_tokens
            for piece in model.stream(prompt, limit, stop or threading.Event()):
                clock.note("first_token_ms")
                pieces.append(piece)
                yield piece
        except SticklerError as error:
            failure = _FAILED.format(error)
        whole = self._spoken(draft, asked, "".join(pieces), read)
        yield replace(whole, reason=failure or whole.reason, timings=clock.total())

    def ask_many(
        self,
        questions: Sequence[str],
        ids: Sequence[str] = (),
        masked: Sequence[Collection[str]] = (),
    ) -> list[Answer]:
        """As `ask` for each: searched together and generated together. One that fails fails all."""
        if not questions:
            return []
        clock = Clock()
        answers = self.speak_many(self.draft_many(questions, ids, masked))
        share = {name: round(ms / len(answers), 1) for name, ms in clock.total().items()}
        return [replace(answer, timings=share) for answer in answers]

    def draft_many(
        self,
        questions: Sequence[str],
        ids: Sequence[str] = (),
        masked: Sequence[Collection[str]] = (),
    ) -> list["Draft"]:
        """The evidence for each question, before a model has spoken."""
        hidden = masked or [()] * len(questions)
        begun = [
            self._begun(question, None, own)[0]
            for question, own in zip(questions, ids or [""] * len(questions), strict=True)
        ]
        drafts = {
            place: Draft(answer, [], [])
            for place, one in enumerate(begun)
            if (answer := self._from_book(one, one.question, hidden[place])) is not None
        }
        rest = [place for place in range(len(begun)) if place not in drafts]
        if rest:
            found = self._find([begun[at].question for at in rest], [hidden[at] for at in rest])
            drafts |= zip(rest, self._drafted([begun[at] for at in rest], found), strict=True)
        return [drafts[place] for place in range(len(begun))]

    def speak_many(self, drafts: Sequence["Draft"]) -> list[Answer]:
        """Each draft's answer with what the model says to it; a refusal stays as it is."""
        answers = [draft.answer for draft in drafts]
        asked = [at for at, draft in enumerate(drafts) if draft.is_open]
        if self.model is None or not asked:
            return answers
        prompts = [self._prompt(answers[at].question, drafts[at].rules, self.model) for at in asked]
        raws = self._generated([prompt for prompt, _ in prompts], self.model)
        for at, raw, (_, read) in zip(asked, raws, prompts, strict=True):
            if isinstance(raw, SticklerError):
                answers[at] = replace(answers[at], reason=_FAILED.format(raw))
            else:
                answers[at] = self._spoken(drafts[at], answers[at].question, raw, read)
        return answers

    def _generated(
        self, prompts: Sequence[models.Prompt], model: models.Model
    ) -> list[str | SticklerError]:
        """What the model says to each prompt; where it fails on all together, one by one."""
        try:
            return [*model.generate(prompts, self.settings.answer_tokens)]
        except SticklerError as error:
            if len(prompts) == 1:
                return [error]
            return [said for prompt in prompts for said in self._generated([prompt], model)]

    def _begun(self, question: str, whole: str | None, id: str) -> tuple[Answer, str]:
        """An answer that is yet to be given, and what is asked."""
        answer = Answer(
            question=question,
            standalone_question=whole,
            edition=self.settings.edition,
            settings=self.settings.hash,
            id=id or hashlib.sha256(question.encode()).hexdigest()[:12],
        )
        return answer, whole or question

    def _from_book(self, answer: Answer, asked: str, masked: Collection[str]) -> Answer | None:
        """The answer where a rule is asked for by number or name; nothing is loaded for it."""
        rules = lookup.rules(asked, self._edition, masked)
        if not rules:
            return None
        text, cited = lookup.text(rules)
        hits = lookup.hits(rules, self._edition)
        return replace(answer, text=text, citations=cited, hits=hits)

    def _find(self, asked: Sequence[str], masked: Sequence[Collection[str]]) -> list[Found]:
        return self.searcher.find_many(asked, self.settings.hits, self.settings.edition, masked)

    def _drafted(self, begun: Sequence[Answer], found: Sequence[Found]) -> list["Draft"]:
        """Each answer as the evidence alone gives it: the decisive rules quoted, or a refusal."""
        model, notice = self._loaded
        sure = [self._confidence(each) for each in found]
        rules = [self._cited(each.hits) for each in found]
        vectors = [each.evidence.vector for each in found]
        quotes = citations.decisive(vectors, rules, self.searcher.embedder)
        drafts = []
        for place, answer in enumerate(begun):
            one, topic = sure[place]
            answer = replace(
                answer,
                hits=tuple(found[place].hits),
                model=model.name if model else models.NONE,
                reason=notice,
            )
            if one.enough and rules[place]:
                text, cited = compose.answered((), rules[place], quotes[place])
                answer = replace(answer, text=text, citations=cited, confidence=round(one.found, 3))
            else:
                text, reason = compose.abstained(rules[place], topic, self._edition, self._add)
                sureness = round(one.settled, 3)
                answer = replace(
                    answer, text=text, reason=reason, confidence=sureness, abstained=True
                )
            drafts.append(Draft(answer, rules[place], quotes[place]))
        return drafts

    def _prompt(
        self, asked: str, rules: Sequence[Rule], model: models.Model
    ) -> tuple[models.Prompt, list[Rule]]:
        """What the model is told, and the rules that it is shown."""
        settings = self.settings
        offered = [(rule.number, rule.text) for rule in rules[: settings.shown]]
        prompt, shown = fill(asked, offered, settings.prompt_tokens, model.count)
        return prompt, [rule for rule in rules if rule.number in shown]

    def _spoken(self, draft: "Draft", asked: str, raw: str, read: Sequence[Rule]) -> Answer:
        """The answer with what the model said, as far as a rule that it read supports it."""
        embedder = self.searcher.embedder
        supported, unsupported = compose.supported(raw, asked, read, embedder)
        text, cited = compose.answered(supported, draft.rules, draft.quotes)
        failed = citations.invented(raw, [rule.number for rule in read], self._edition)
        return replace(
            draft.answer,
            text=text,
            raw=raw,
            unsupported=unsupported,
            verdict=compose.verdict(raw) if self.settings.verdicts else None,
            citations=(*cited, *failed),
        )

    def _confidence(self, found: Found) -> tuple[Confidence, Topic]:
        topic = self._topics.nearest(found.evidence.vector)
        return confidence(found.hits, found.evidence, topic), topic

    def _cited(self, hits: Sequence[Hit]) -> list[Rule]:
        """The best rules themselves."""
        by_number = self._edition.by_number
        known = [hit for hit in hits if hit.passage.number in by_number]
        near = citations.near_best(known, self.settings.cited)
        return [by_number[hit.passage.number] for hit in near]


class Draft(NamedTuple):
    """An answer before a model has spoken, with the rules it cites and their decisive sentences."""

    answer: Answer
    rules: list[Rule]
    quotes: list[str]

    @property
    def is_open(self) -> bool:
        """True where a model may add to it: no refusal, and not read out of the book."""
        return not self.answer.abstained and bool(self.rules)
