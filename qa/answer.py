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
    """All that is known of one answer; its JSON is the public contract."""

    question: str
    edition: str
    settings: str  # their hash
    id: str = ""
    standalone_question: str | None = None  # a follow-up as it was understood
    verdict: Value | None = None  # None where the question asks for none
    verdict_confidence: float | None = None  # that yes or no is right
    yes_probability: float | None = None  # what the verdict was read from, calibrated
    text: str = ""
    generated: str = ""  # the model's sentences that a rule supports, each with its rule
    generated_confidence: float | None = None  # that what the model says is right
    unsure: bool = False  # what the model says is too doubtful to be shown unasked
    raw: str = ""  # what the model said, untouched
    mean_logprob: float | None = None  # of the tokens that the model wrote
    unsupported: int = 0  # sentences of the model that no rule supports, and so are not shown
    abstained: bool = False
    reason: str | None = None  # why it abstained, or why no model spoke
    confidence: float = 1.0
    open_condition: OpenCondition | None = None  # what it depends on; then no model is asked
    similar_questions: tuple[AnsweredQuestion, ...] = ()  # about the rules that a model reads
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
        """True where what the model says may lead: a clear verdict, or sentences likely right."""
        return self.verdict in ("yes", "no") or (bool(self.generated) and not self.unsure)

    @property
    def unverified(self) -> list[str]:
        """The rule numbers that the model wrote by itself, not to be trusted."""
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
