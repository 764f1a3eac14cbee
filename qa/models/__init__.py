"""Language models behind one small protocol, chosen by one setting.

The setting `model` is one of:
  smollm2-135m                        the embedded default
  none                                no language model: the decisive rules, quoted
  ./model.gguf                        a GGUF file
  llama3.2@http://127.0.0.1:11434/v1  a model of an OpenAI-compatible server
  anything else                       a folder or a Hugging Face id, for transformers
"""

import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from index.errors import SticklerError

DEFAULT = "smollm2-135m"
NONE = "none"
BOOK = "book"  # what answers where a rule is asked for by number or name: no model at all


class Prompt(NamedTuple):
    """What a model is told: the fixed part, and the part of this question."""

    system: str
    user: str


class Model(Protocol):
    """What every back end can do."""

    name: str
    context: int  # tokens that a prompt and its answer may take together

    @property
    def hash(self) -> str:
        """Tells one set of weights from another."""

    def count(self, text: str) -> int:
        """How many tokens a text takes."""

    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        """An answer to each prompt, of at most `limit` tokens."""

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> Iterator[str]:
        """The pieces of an answer as they come; ends at once when `stop` is set."""


def load(name: str) -> Model | None:
    """The model of a setting, loaded; None for 'none'."""
    if name == NONE:
        return None
    if name == DEFAULT:
        from qa.models import embedded

        return embedded.load()
    if "://" in name:
        from qa.models.server import Server

        return Server(name)
    if name.endswith(".gguf"):
        from qa.models.gguf import Gguf

        return Gguf(name)
    from qa.models.local import Local

    return Local(name)


def notice_without(name: str, error: SticklerError) -> str:
    """What is said where the embedded model fails to load; one that was asked for has to be had."""
    if name != DEFAULT:
        raise error
    return f"No language model could be loaded: {error}"
