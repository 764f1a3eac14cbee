"""Turns a question into an answer with checked citations. Independent of any user interface.

>>> from qa import Assistant, Settings
>>> Assistant(Settings(model="none")).ask("can reach block flying?").cited[0].number
'702.17b'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qa.answer import Answer as Answer
    from qa.assistant import Assistant as Assistant
    from qa.settings import Settings as Settings

__all__ = ["Answer", "Assistant", "Settings"]


def __getattr__(name: str) -> Any:
    """The main classes, imported when they are first used."""
    if name not in __all__:
        raise AttributeError(f"module 'qa' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"qa.{name.lower()}"), name)
