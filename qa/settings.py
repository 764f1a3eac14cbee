"""One flat settings object, and the hash that says which settings an answer was made with."""

import hashlib
import json
from dataclasses import asdict, dataclass

from index.editions import CURRENT
from index.embedder import DEFAULT as EMBEDDER
from qa.models import DEFAULT as MODEL


@dataclass(frozen=True, slots=True)
class Settings:
    model: str = MODEL
    embedder: str = EMBEDDER
    edition: str = CURRENT
    top_k: int = 10  # rules that are searched for
    max_citations: int = 3  # rules that are cited, on average; a few more where many are as good
    context_rules: int = 2  # of the cited, rules that the model reads at most
    prompt_tokens: int = 600  # of all rules that the model reads
    answer_tokens: int = 80
    show_generated: bool | None = None  # the model's sentences; None: of any but the embedded model
    verdicts: bool = False  # show the model's own yes or no: only for a model measured to be right

    @property
    def speaks(self) -> bool:
        """False where the model would not be heard: then it need not be loaded either.

        Of 15 answers of the embedded model that a rule seemed to support, three were right.
        """
        return self.model != MODEL if self.show_generated is None else self.show_generated

    @property
    def hash(self) -> str:
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]
