"""One flat settings object, and the hash that says which settings an answer was made with."""

import hashlib
import json
from dataclasses import asdict, dataclass

from index.editions import CURRENT
from index.embed import DEFAULT as EMBEDDER
from index.rerank import DEFAULT as RERANKER
from qa.models import DEFAULT as MODEL


@dataclass(frozen=True, slots=True)
class Settings:
    model: str = MODEL
    embedder: str = EMBEDDER
    reranker: str = RERANKER  # a file of tuned weights, or none
    edition: str = CURRENT
    hits: int = 10  # rules that are searched for
    cited: int = 3  # of these, rules that are cited, on average
    shown: int = 2  # of these, rules that the model reads at most
    prompt_tokens: int = 600  # of all rules that the model reads
    answer_tokens: int = 80
    words: bool | None = (
        None  # show the model's sentences; by default those of any but the embedded
    )
    verdicts: bool = False  # show the model's own yes or no: only for a model measured to be right

    @property
    def speaks(self) -> bool:
        """False where the model would not be heard: then it need not be loaded either.

        Of 15 answers of the embedded model that a rule seemed to support, three were right.
        """
        return self.model != MODEL if self.words is None else self.words

    @property
    def hash(self) -> str:
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]
