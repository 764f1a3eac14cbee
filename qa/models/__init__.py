"""Language models behind one small protocol, chosen by one setting.

The setting `model` is one of:
  qwen2.5-coder-1.5b                  a name of catalog.toml; this one is the default
  none                                no language model: the decisive rules, quoted
  ./model.gguf                        a GGUF file
  llama3.2@http://127.0.0.1:11434/v1  a model of an OpenAI-compatible server
  anything else                       a folder or a Hugging Face id, for transformers
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from index import files
from index.errors import Action, Remedy, SticklerError

DEFAULT = "qwen2.5-coder-1.5b"
NONE = "none"
NOT_HERE = "has not been downloaded yet"
BOOK = "book"  # the "model" of look-ups by number or name: no language model is involved

Probabilities = Mapping[str, float]  # of the words that an answer may start with
# What a model streams: the probabilities of its first word, then text, and finally the mean
# log-probability of the tokens it wrote, if it knows them.
Piece = Probabilities | str | float


class Prompt(NamedTuple):
    """A prompt: the fixed part, and the part that belongs to one question."""

    system: str
    user: str
    examples: tuple[tuple[str, str], ...] = ()  # worked examples, (user, assistant); fixed too

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as a chat; a lone surrogate, which JSON parsers reject, becomes '?'."""
        turns = [("system", self.system)] if self.system else []
        for question, answer in self.examples:
            turns += [("user", question), ("assistant", answer)]
        turns.append(("user", self.user))
        return [
            {"role": role, "content": text.encode(errors="replace").decode()}
            for role, text in turns
        ]


def no_opening(_: Probabilities | None) -> str:
    """Leaves the opening to the model."""
    return ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for one answer."""

    prompt: Prompt
    limit: int  # tokens in the answer; 0 requests only the probabilities of its first word
    options: tuple[str, ...] = ()  # first words whose probabilities are requested
    opening: Callable[[Probabilities | None], str] = no_opening  # the forced start of the answer
    citable: tuple[str, ...] = ()  # rules that sentences must end with, if the back end supports it


class Generation(NamedTuple):
    """The result of a request."""

    text: str
    probabilities: Probabilities | None = None  # None where none were asked for or none reported
    mean_logprob: float | None = None  # of the tokens that the model wrote; None where not reported


class Model(Protocol):
    """What every back end can do."""

    name: str
    context: int  # tokens that a prompt and its answer may take together
    tuned: bool  # trained on our prompts: shorter instructions, no worked examples

    @property
    def hash(self) -> str:
        """Identifies the weights."""

    def count(self, text: str) -> int:
        """How many tokens a text takes."""

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """What comes of each request."""

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Piece]:
        """The probabilities, if requested and known; the answer in pieces, beginning with its
        opening; the mean log-probability of its tokens, if known. Ends at once when `stop` is
        set."""


def load(name: str) -> Model | None:
    """The model of a setting, loaded; None for 'none'."""
    from qa.models import catalog

    if name == NONE:
        return None
    if "://" in name:
        from qa.models.server import ServerModel

        return ServerModel(name)
    if path := catalog.find(name):
        from qa.models.gguf import GgufModel

        model = catalog.known(name)
        return GgufModel(path, name=name, adapter=model.adapter_path if model else None)
    if known := catalog.known(name):
        raise SticklerError(
            f"The language model {known.name} {NOT_HERE}", Remedy(Action.GET_MODEL, known.name)
        )
    if name.endswith(".gguf"):
        from qa.models.gguf import GgufModel

        return GgufModel(name)
    from qa.models.transformers_model import TransformersModel

    return TransformersModel(name)


def weights_hash(name: str) -> str | None:
    """The `hash` that a setting's model would have, computed from its local files.

    None if they do not determine it: the model on a server may change at any time.
    """
    from qa.models import catalog

    if "://" in name:
        return None
    path = catalog.find(name) or Path(name).expanduser()
    if path.is_dir():
        return files.fingerprint(path)
    if path.suffix != ".gguf" or not path.is_file():
        return None
    model = catalog.known(name)
    adapter = model.adapter_path if model else None
    return files.ends_hash(path, *([adapter] if adapter else []))


def collect(pieces: Iterable[Piece]) -> Generation:
    """A stream as a whole."""
    probabilities: Probabilities | None = None
    mean_logprob: float | None = None
    text = []
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece)
        elif isinstance(piece, float):
            mean_logprob = piece
        else:
            probabilities = piece
    return Generation("".join(text).strip(), probabilities, mean_logprob)
