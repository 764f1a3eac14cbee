"""The answer to a question: its type, and its JSON, which is the public contract."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from index.expansion import AnsweredQuestion
from index.hits import Hit
from qa import models
from qa.citations import Citation
from qa.open_condition import OpenCondition
from qa.verdict import Value

VERSION = 4  # 4: similar_questions


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything known about one answer; its JSON is the public contract."""

    question: str
    edition: str
    settings: str  # their hash
    id: str = ""
    standalone_question: str | None = None  # a follow-up as it was understood
    verdict: Value | None = None  # None where the question asks for none
    verdict_confidence: float | None = None  # probability that the yes or no is right
    yes_probability: float | None = None  # what the verdict was read from, calibrated
    text: str = ""
    generated: str = ""  # the model's sentences that a rule supports, each with its rule
    generated_confidence: float | None = None  # probability that the model's sentences are right
    unsure: bool = False  # the model's sentences are too doubtful to be shown by default
    raw: str = ""  # the model's output, unchanged
    mean_logprob: float | None = None  # of the tokens that the model wrote
    unsupported: int = 0  # sentences of the model without support, which are not shown
    abstained: bool = False
    reason: str | None = None  # why it abstained, or why there is no output from a model
    confidence: float = 1.0
    open_condition: OpenCondition | None = None  # what it depends on; no model is then asked
    similar_questions: tuple[AnsweredQuestion, ...] = ()  # of the rules in the model's prompt
    citations: tuple[Citation, ...] = ()
    hits: tuple[Hit, ...] = ()
    model: str = models.BOOK
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def cited(self) -> list[Citation]:
        """The citations that were checked: each quotes its rule."""
        return [citation for citation in self.citations if citation.quote]

    @property
    def sure(self) -> bool:
        """True if the model's reading may come first: a clear verdict or likely right sentences."""
        return self.verdict in ("yes", "no") or (bool(self.generated) and not self.unsure)

    @property
    def unverified(self) -> list[str]:
        """Rule numbers that the model wrote without having been shown the rule; not trustworthy."""
        return [citation.number for citation in self.citations if not citation.quote]

    def to_json(self) -> dict[str, Any]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            "version": VERSION,
            **plain,
            "open_condition": self.open_condition and asdict(self.open_condition),
            "similar_questions": [asdict(each) for each in self.similar_questions],
            "citations": [asdict(citation) for citation in self.citations],
            "hits": [hit.to_json() for hit in self.hits],
        }
