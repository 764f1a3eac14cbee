"""The commands that answer a question: stickler ask and stickler chat.

Run as: stickler ask "can a creature with reach block a flyer?"
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cli.assistant import make_settings, open_assistant, open_cache, start_loading
from cli.options import EditionName, EmbedderName, Json, ModelName, ShowUnsure
from cli.remedies import phrase
from cli.terminal import show
from index.embedder import DEFAULT as EMBEDDER
from index.errors import SticklerError
from index.rulebook import marked
from qa.models import BOOK, NOT_HERE
from qa.models import DEFAULT as MODEL

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from qa.answer import Answer
    from qa.answer_cache import AnswerCache
    from qa.assistant import Assistant
    from qa.citations import Citation

app = typer.Typer()
_HOW_TO_GET_A_MODEL = "Get it with 'stickler model get'."
_HOW_TO_ADD_RULES = "Add the full rules with 'stickler rules add FILE'."


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="Default: standard input.")] = None,
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    show_generated: ShowUnsure = None,
    as_json: Json = False,
) -> None:
    """Answer a question and cite the rules that settle it."""
    from qa import lookup

    question = _read_standard_input() if question is None else question
    assistant = open_assistant(make_settings(model, embedder, edition, show_generated is not False))
    cache = open_cache()
    if not (lookup.rules(question, assistant.edition) or cache.find(assistant, question)):
        start_loading(assistant)
    answer = _answer(assistant, cache, question, stream=not as_json)
    if as_json:
        show(answer.to_json(), [], as_json=True)
    else:
        _print_answer(answer, bool(show_generated))


@app.command()
def chat(
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    show_generated: ShowUnsure = None,
) -> None:
    """Ask a series of questions, including follow-ups. An empty line ends the session."""
    assistant = open_assistant(make_settings(model, embedder, edition, show_generated is not False))
    if sys.stdin.isatty():
        start_loading(assistant)  # while the first question is typed
    cache = open_cache()
    before: list[str] = []
    while question := _read_next_question():
        try:
            answer = _answer(assistant, cache, question, before)
        except SticklerError as error:
            typer.echo(f"Error: {error.sentence(phrase)}", err=True)
            assistant.resources.load_search(retry=True)  # what kept it from loading may be gone
            continue
        _print_answer(answer, bool(show_generated))
        before.append(answer.standalone_question or question)
        typer.echo("")


def _answer(
    assistant: "Assistant",
    cache: "AnswerCache",
    question: str,
    before: Sequence[str] = (),
    stream: bool = True,
) -> "Answer":
    """Ask; with `stream`, a person at a terminal sees the model's words as they come."""
    from qa.answer import Answer

    answer: Answer | None = None
    streamed = False
    for part in cache.ask_stream(assistant, question, before):
        if isinstance(part, Answer):
            answer = part
        elif stream and sys.stderr.isatty():
            typer.secho(part, dim=True, nl=False, err=True)
            streamed = True
    assert answer is not None
    if streamed:
        typer.echo("", err=True)
    return answer


def _print_answer(answer: "Answer", unsure_too: bool) -> None:
    """Print the cited rules with the deciding sentence of each in bold, and details dimmed below.

    If the model is sure, its reading comes first. Otherwise its verdict follows the rules, and its
    sentences are printed only if `unsure_too`.
    """
    from rich.console import Console
    from rich.text import Text

    from qa.compose import SIMILAR, branches, similar_lines

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    if answer.standalone_question:
        console.print(Text(f"Understood as: {answer.standalone_question}", "dim"))
    if answer.sure:
        console.print(_reading(answer, unsure_too))
    if not answer.cited:
        console.print(Text(answer.text))
    for citation in answer.cited:
        title = f"{citation.number} {citation.heading}".strip()
        console.print(Text.assemble((title, "bold"), f" [{citation.edition}]"))
        _print_indented(console, _rule_text(citation))
    if answer.open_condition:
        console.print(Text(branches(answer.open_condition)))
    if not answer.sure and (answer.verdict or (answer.generated and unsure_too)):
        console.print(_reading(answer, unsure_too))
    if answer.similar_questions:
        console.print(Text(f"{SIMILAR}:", "dim"))
    for line in similar_lines(answer.similar_questions):
        _print_indented(console, Text(line))
    for line in _small_print(answer):
        console.print(Text(line, "dim"))


def _print_indented(console: "Console", text: "Text") -> None:
    from rich.text import Text

    for piece in text.wrap(console, console.width - 2):
        piece.rstrip()
        console.print(Text.assemble("  ", piece))


def _reading(answer: "Answer", unsure_too: bool) -> "Text":
    """The model's reading of the rules, labelled as such."""
    from rich.text import Text

    from qa.verdict import describe_confidence

    verdict = ""
    if answer.verdict:
        sure = describe_confidence(answer)
        verdict = f"{answer.verdict.capitalize()}{f' ({sure})' if sure else ''}. "
    sentences = answer.generated if unsure_too or not answer.unsure else ""
    doubt = ", though it is unsure" if sentences and answer.unsure else ""
    name = f"As {answer.model} reads it{doubt}: "
    text = Text.assemble((name, "dim"), (verdict, "bold"), sentences)
    text.rstrip()
    return text


def _rule_text(citation: "Citation") -> "Text":
    """The whole rule, its deciding sentence in bold and quotation marks unless it is the rule."""
    from rich.text import Text

    before, quote, behind = citation.text.partition(citation.quote)
    decisive = (f"“{quote}”", "bold") if before or behind else quote
    return Text.assemble(before, decisive, marked(behind, citation.truncated))


def _small_print(answer: "Answer") -> list[str]:
    """The lines below an answer: hints, other rules found, edition, model and confidence."""
    from qa.answer_cache import FROM_CACHE
    from qa.compose import ADD_RULES

    lines = []
    if answer.abstained and ADD_RULES in answer.text:
        lines.append(_HOW_TO_ADD_RULES)
    if answer.unverified:
        numbers = ", ".join(answer.unverified)
        lines.append(f"Not verified, so do not rely on it: the model named {numbers}.")
    cited = {citation.number for citation in answer.cited}
    others = [h.passage.number for h in answer.hits if h.passage.number not in cited]
    if others and answer.model != BOOK and not answer.abstained:
        lines.append(f"Found but not cited: {', '.join(others)}")
    if answer.reason and not answer.abstained:
        missing = NOT_HERE in answer.reason
        lines.append(f"{answer.reason} {_HOW_TO_GET_A_MODEL}" if missing else answer.reason)
    sure = "" if answer.model == BOOK else f", confidence {answer.confidence:.2f}"
    before = ", from the cache" if FROM_CACHE in answer.timings else ""
    return [*lines, f"Edition {answer.edition}, model {answer.model}{sure}{before}"]


def _read_standard_input() -> str:
    if sys.stdin.isatty():
        raise SticklerError("There is no question: give one after the command.")
    data = sys.stdin.buffer.read(1 << 20)
    return data.decode("utf-8", errors="replace").strip()


def _read_next_question() -> str:
    if sys.stdin.isatty():
        typer.secho("? ", bold=True, nl=False, err=True)
    return sys.stdin.readline().strip()
