"""Shared by the commands that answer questions: settings, the assistant, the answer cache."""

from typing import TYPE_CHECKING

import typer

from cli.remedies import phrase
from cli.terminal import progress_bar
from index.editions import CURRENT

if TYPE_CHECKING:
    from qa.answer_cache import AnswerCache
    from qa.assistant import Assistant
    from qa.settings import Settings


def make_settings(
    model: str, embedder: str, edition: str | None, show_generated: bool
) -> "Settings":
    """The settings for a command's options; without an edition, the current view."""
    from qa.settings import Settings

    return Settings(
        model=model, embedder=embedder, edition=edition or CURRENT, show_generated=show_generated
    )


def open_assistant(settings: "Settings") -> "Assistant":
    """An assistant with the process's resources; an unknown edition is an error at once."""
    from qa.assistant import Assistant
    from qa.resources import Resources

    resources = Resources(settings.embedder, progress=progress_bar("Embedding"))
    assistant = Assistant(settings, resources)
    _ = assistant.edition  # parses the rulebook and nothing else
    return assistant


def open_cache() -> "AnswerCache":
    """The answer cache; a note on standard error says if it cannot be used."""
    from qa.answer_cache import AnswerCache

    return AnswerCache(
        lambda problem: typer.echo(f"Note: {problem.sentence(phrase)}", err=True),
    )


def start_loading(assistant: "Assistant") -> None:
    """Load search, and the language model if it speaks, side by side in the background."""
    assistant.resources.load_search()
    if assistant.settings.uses_model:
        assistant.resources.load_model(assistant.settings.model)
