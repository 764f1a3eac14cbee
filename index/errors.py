"""The one error that people see: what is wrong, where, and what to do next.

What to do next is data, because the terminal and the page word it differently: a `Remedy` names the
action, and `cli` and `page` each have a phrase for it.

>>> raise SticklerError("There is no index yet", Remedy(Action.BUILD_INDEX))
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple


class Action(Enum):
    """What a person can do about an error; what it applies to is the remedy's value."""

    ADD_RULES = auto()
    GET_LATEST = auto()  # the newest rules that the publisher offers
    READD_RULES = auto()  # remove an edition, the value, and add it again
    LIST_HEADINGS = auto()
    LIST_DOCUMENTS = auto()
    NAME_EDITION = auto()
    BUILD_INDEX = auto()  # with the embedding model that the value names, if any
    TUNE = auto()  # the model that the value names
    GET_MODEL = auto()  # the model that the value names
    CHOOSE_MODEL = auto()
    CHOOSE_NO_MODEL = auto()
    CHOOSE_FORMAT = auto()
    CHOOSE_COLUMN = auto()
    RESTART = auto()
    LEAVE_OUT_RAY = auto()
    LEAVE_OUT_ADDRESS = auto()
    CONTINUE_RUN = auto()  # the evaluation run in the folder that the value names
    ADD_SET = auto()
    CHOOSE_FIELDS = auto()
    FEWER_WORKERS = auto()
    CLEAR_CACHE = auto()


class Remedy(NamedTuple):
    action: Action
    value: str = ""


class SticklerError(Exception):
    """Shown as one sentence, without a traceback; the command ends with exit code 1.

    A remedy that is plain text is used as it is everywhere. `str` gives the message and the
    plain-text remedies; `sentence` also includes those that need a phrase.
    """

    def __init__(self, message: str, *remedies: Remedy | str) -> None:
        self.message = _printable(message)
        self.remedies = remedies
        super().__init__(self.sentence())

    def sentence(self, phrase: Callable[[Remedy], str] | None = None) -> str:
        """The message and what to do; `phrase` puts a remedy into words, '' leaves it out."""
        said = [
            remedy if isinstance(remedy, str) else phrase(remedy) if phrase else ""
            for remedy in self.remedies
        ]
        said = [_printable(each) for each in said if each]
        if not said:
            return self.message if self.message[-1:] in ".!?" else f"{self.message}."
        return f"{self.message.removesuffix('.')}: {', or '.join(said)}."


def _printable(text: str) -> str:
    """Remove control characters: the text may quote a file or a server."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
