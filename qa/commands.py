"""The commands that answer: stickler ask, stickler chat, stickler doctor."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from index import library
from index.editions import CURRENT
from index.embed import DEFAULT as EMBEDDER
from index.errors import SticklerError
from index.terminal import EditionName, EmbedderName, Json, progress_bar, show, wrapped
from qa.models import DEFAULT as MODEL

if TYPE_CHECKING:
    from qa.answer import Answer, Assistant

app = typer.Typer()

ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        envvar="STICKLER_MODEL",
        help="smollm2-135m, none, a .gguf file, NAME@http://HOST/v1, a folder or a hub's id.",
    ),
]
Words = Annotated[
    bool | None,
    typer.Option("--words/--no-words", help="Show the model's sentences that a rule supports."),
]


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="Default: standard input.")] = None,
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    words: Words = None,
    as_json: Json = False,
) -> None:
    """Answer a question, with the rules that decide it."""
    asked = question if question is not None else _standard_input()
    assistant = _assistant(model, edition, embedder, words)
    answer = _told(assistant, asked, (), quiet=as_json)
    if as_json:
        show(answer.to_json(), [], as_json=True)


@app.command()
def chat(
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    words: Words = None,
) -> None:
    """Ask one question after another; a follow-up keeps its subject. An empty line ends it."""
    assistant = _assistant(model, edition, embedder, words)
    before: list[str] = []
    while asked := _next_question():
        try:
            answer = _told(assistant, asked, before, quiet=False)
        except SticklerError as error:
            typer.echo(f"Error: {error}", err=True)
            continue
        before.append(answer.standalone_question or asked)
        typer.echo("")


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what is installed, which models are there, whether the index is fresh, what to run."""
    from qa.doctor import examine

    findings = examine()
    lines = [f"{'ok  ' if f.fine else 'MISS'} {f.what}: {f.state}" for f in findings]
    show([f._asdict() for f in findings], lines, as_json)
    if not all(finding.fine for finding in findings):
        raise SystemExit(1)


def _assistant(model: str, edition: str | None, embedder: str, words: bool | None) -> "Assistant":
    from qa.answer import Assistant
    from qa.settings import Settings

    settings = Settings(model=model, edition=edition or CURRENT, embedder=embedder, words=words)
    library.load().edition(settings.edition)  # an edition that is not there is said at once
    return Assistant(settings, progress=progress_bar("Embedding"))


def _told(assistant: "Assistant", question: str, before: Sequence[str], quiet: bool) -> "Answer":
    """Ask, and unless quiet print the model's words as they come and the answer at the end."""
    from qa.answer import Answer

    answer: Answer | None = None
    streamed = False
    for part in assistant.ask_stream(question, before):
        if isinstance(part, Answer):
            answer = part
        elif not quiet and sys.stderr.isatty():
            typer.secho(part, dim=True, nl=False, err=True)
            streamed = True
    assert answer is not None
    if streamed:
        typer.echo("", err=True)
    if not quiet:
        typer.echo("\n".join(_lines(answer)))
    return answer


def _lines(answer: "Answer") -> list[str]:
    lines = []
    if answer.standalone_question:
        lines.append(typer.style(f"Understood as: {answer.standalone_question}", dim=True))
    if answer.verdict:
        lines.append(typer.style(answer.verdict.upper(), bold=True))
    cited = [citation for citation in answer.citations if citation.quote]
    if answer.abstained or not cited:
        lines.append(wrapped(answer.text, 0))
    elif "\n" in answer.text and "[" in (said := answer.text.split("\n")[0]) and said.endswith("]"):
        lines.append(wrapped(said, 0))
    for citation in cited:
        title = f"{citation.number} {citation.heading}".strip()
        lines.append(f"{typer.style(title, bold=True)} [{citation.edition}]")
        whole = citation.text + (" [cut off in the source]" if citation.truncated else "")
        marked = whole if citation.quote == citation.text else _marked(whole, citation.quote)
        lines.append(wrapped(marked))
    failed = [citation.number for citation in answer.citations if not citation.quote]
    if failed:
        lines.append(f"Not checked, and not to be trusted: the model named {', '.join(failed)}.")
    read = [hit.passage.number for hit in answer.hits]
    others = [number for number in read if number not in {c.number for c in cited}]
    if others and answer.model != "book":
        lines.append(typer.style(f"Also read: {', '.join(others)}", dim=True))
    if answer.reason and not answer.abstained:
        lines.append(answer.reason)
    sure = "" if answer.model == "book" else f", confidence {answer.confidence:.2f}"
    foot = f"Edition {answer.edition}, model {answer.model}{sure}"
    lines.append(typer.style(foot, dim=True))
    return lines


def _marked(text: str, quote: str) -> str:
    """The decisive sentence between marks that need no colours."""
    return text.replace(quote, f"»{quote}«", 1)


def _standard_input() -> str:
    if sys.stdin.isatty():
        raise SticklerError("There is no question: write it behind the command.")
    data = sys.stdin.buffer.read(1 << 20)
    return data.decode("utf-8", errors="replace").strip()


def _next_question() -> str:
    if sys.stdin.isatty():
        typer.secho("? ", bold=True, nl=False, err=True)
    return sys.stdin.readline().strip()
