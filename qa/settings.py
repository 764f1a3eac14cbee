"""One flat settings object, and the hash that says which settings an answer was made with."""

import hashlib
import json
from dataclasses import asdict, dataclass

from index.editions import CURRENT
from index.embedder import DEFAULT as EMBEDDER
from qa.models import DEFAULT as MODEL
from qa.models import NONE


@dataclass(frozen=True, slots=True)
class Settings:
    model: str = MODEL
    embedder: str = EMBEDDER
    edition: str = CURRENT
    top_k: int = 10  # rules that are searched for
    max_citations: int = 3  # rules that are cited, on average; a few more where many are as good
    context_rules: int = 3  # of the cited, rules that the model reads at most
    max_similar_questions: int = 3  # answered ones about these rules, shown and read
    prompt_tokens: int = 600  # of all rules that the model reads
    answer_tokens: int = 110
    show_generated: bool = True  # the model's verdict and sentences

    @property
    def speaks(self) -> bool:
        """False where the model would not be heard: then it need not be loaded either."""
        return self.show_generated and self.model != NONE

    @property
    def hash(self) -> str:
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]
