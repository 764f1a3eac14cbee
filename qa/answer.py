"""From a question to an answer with checked citations: `Assistant.ask` and `ask_stream`.

Evidence decides and is shown: the rules that search found, the decisive sentence of each word for
word, and of the language model's sentences those that one of these rules supports.

>>> Assistant(Settings()).ask("can a flyer be blocked by reach?").citations[0].number
'702.17b'
"""

import hashlib
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from index import library, numbers
from index.editions import Rulebook
from index.embed import Progress
from index.errors import SticklerError
from index.passages import passages
from index.rulebook import Edition, Rule
from index.search import Found, Hit, Searcher
from qa import citations, compose, models
from qa.citations import Citation
from qa.confidence import Confidence, confidence
from qa.conversation import standalone
from qa.prompt import fill
from qa.settings import Settings
from qa.topics import Topic, Topics

VERSION = 1
_DOUBTFUL, _CLEAR = 0.8, 0.9  # confidence; chosen on the practice questions


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
    ) -> None:
        self.settings = settings
        self._progress = progress
        if searcher is not None:
            self.__dict__["searcher"] = searcher
        if model is not None:
            self.__dict__["_loaded"] = (model, None)

    @cached_property
    def book(self) -> Rulebook:
        return self.__dict__["searcher"].book if "searcher" in self.__dict__ else library.load()

    @cached_property
    def searcher(self) -> Searcher:
        return Searcher.open(self.settings.embedder, self._progress)

    @cached_property
    def _loaded(self) -> tuple[models.Model | None, str | None]:
        """The model, and what is to be said where the embedded one cannot be had."""
        if not self.settings.speaks:
            return None, None
        try:
            return models.load(self.settings.model), None
        except SticklerError as error:
            if self.settings.model != models.DEFAULT:
                raise
            return None, f"No language model could be loaded: {error}"

    @cached_property
    def _edition(self) -> Edition:
        return self.book.edition(self.settings.edition)

    @cached_property
    def _topics(self) -> Topics:
        return Topics(self._edition, self.searcher.embedder)

    def load(self) -> None:
        """Load now what the first question would wait for."""
        _ = (self.searcher.embedder.model, self._loaded, self._topics)

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
        clock = _Clock()
        whole = standalone(question, before)
        answer = Answer(
            question=question,
            standalone_question=whole,
            edition=self.settings.edition,
            settings=self.settings.hash,
            id=id or hashlib.sha256(question.encode()).hexdigest()[:12],
        )
        asked = whole or question
        if rules := self._looked_up(asked, masked):
            text, cited = compose.looked_up(rules)
            hits = self._by_number(rules)
            yield replace(answer, text=text, citations=cited, hits=hits, timings=clock.total())
            return
        settings = self.settings
        found = self.searcher.find_many([asked], settings.hits, settings.edition, [masked])[0]
        clock.note("search_ms")
        sure, topic = self._confidence(found)
        rules = self._cited(found.hits, sure.found)
        model, notice = self._loaded
        answer = replace(
            answer,
            hits=tuple(found.hits),
            model=model.name if model else models.NONE,
            reason=notice,
        )
        if not sure.enough or not rules:
            text, reason = compose.abstained(rules, topic, self._edition)
            answer = replace(answer, text=text, reason=reason, confidence=round(sure.settled, 3))
            yield replace(answer, abstained=True, timings=clock.total())
            return
        quotes = citations.decisive(found.evidence.vector, rules, self.searcher.embedder)
        text, cited = compose.answered((), rules, quotes)
        answer = replace(answer, text=text, citations=cited, confidence=round(sure.found, 3))
        yield replace(answer, timings=clock.total())
        if model is None:
            return
        read = [(rule.number, rule.text) for rule in rules[: settings.shown]]
        prompt, shown = fill(asked, read, settings.prompt_tokens, model.count)
        pieces: list[str] = []
        try:
            for piece in model.stream(prompt, settings.answer_tokens, stop or threading.Event()):
                clock.note("first_token_ms")
                pieces.append(piece)
                yield piece
        except SticklerError as error:
            answer = replace(answer, reason=f"The language model failed: {error}")
        raw = "".join(pieces)
        read_rules = [rule for rule in rules if rule.number in shown]
        supported, unsupported = self._supported(raw, asked, read_rules)
        text, cited = compose.answered(supported, rules, quotes)
        failed = citations.invented(raw, [rule.number for rule in read_rules], self._edition)
        yield replace(
            answer,
            text=text,
            raw=raw,
            unsupported=unsupported,
            verdict=compose.verdict(raw) if settings.verdicts else None,
            citations=(*cited, *failed),
            timings=clock.total(),
        )

    def _supported(
        self, raw: str, asked: str, rules: Sequence[Rule]
    ) -> tuple[list[tuple[str, Rule]], int]:
        """The model's sentences that one of these rules supports, and how many none supports."""
        said = compose.whole_sentences(raw)
        by = [citations.attribute(one, asked, rules, self.searcher.embedder) for one in said]
        kept = [(one, rule) for one, rule in zip(said, by, strict=True) if rule is not None]
        return kept, len(said) - len(kept)

    def _confidence(self, found: Found) -> tuple[Confidence, Topic]:
        topic = self._topics.nearest(found.evidence.vector)
        sure = confidence(found.hits, found.evidence, topic, self.searcher.embedder.hash)
        return sure, topic

    def _cited(self, hits: Sequence[Hit], sure: float) -> list[Rule]:
        """The best rules themselves: one more where they are doubtful, one less where clear."""
        by_number = self._edition.by_number
        found = [by_number[h.passage.number] for h in hits if h.passage.number in by_number]
        return found[: self.settings.cited + (sure < _DOUBTFUL) - (sure > _CLEAR)]

    def _looked_up(self, asked: str, masked: Collection[str]) -> list[Rule]:
        """The rules of a question that is nothing but a number, a range or a keyword's name."""
        book = self._edition
        name = compose.name_asked(asked)
        wanted = numbers.asked(compose.number_asked(asked)) or (
            book.headed(name)[:1] if name else []
        )
        found = [rule for number in wanted if number in book for rule in book.find(number)]
        return [r for r in found if not r.is_heading and f"{r.edition}/{r.number}" not in masked]

    def _by_number(self, rules: Sequence[Rule]) -> tuple[Hit, ...]:
        wanted = {rule.number for rule in rules}
        own = [p for p in passages(self._edition) if p.kind == "rule" and p.number in wanted]
        return tuple(Hit(p, rank, 0.0, ("number",)) for rank, p in enumerate(own, 1))


class _Clock:
    """Milliseconds since the question came."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._noted: dict[str, float] = {}

    def note(self, name: str) -> None:
        """Note a moment, the first time that it comes."""
        self._noted.setdefault(name, round((time.perf_counter() - self._start) * 1000, 1))

    def total(self) -> dict[str, float]:
        return {**self._noted, "total_ms": round((time.perf_counter() - self._start) * 1000, 1)}
