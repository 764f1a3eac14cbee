"""One flat settings object, and the hash that identifies the settings of an answer."""

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
    top_k: int = 10  # rules to retrieve
    max_citations: int = 3  # rules to cite, approximately; up to two more if many are equally good
    context_rules: int = 3  # the most cited rules to put in the prompt
    max_similar_questions: int = 3  # answered questions to show and to put in the prompt
    prompt_tokens: int = 600  # for all rules in the prompt
    answer_tokens: int = 110
    show_generated: bool = True  # the model's verdict and sentences

    @property
    def uses_model(self) -> bool:
        """Whether a model's output is shown; otherwise it need not be loaded."""
        return self.show_generated and self.model != NONE

    @property
    def hash(self) -> str:
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]
