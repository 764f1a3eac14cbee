"""The commands that answer: stickler ask, stickler chat, stickler doctor."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from index import library
from index.editions import CURRENT
from index.embedder import DEFAULT as EMBEDDER
from index.errors import SticklerError
from index.rerank import DEFAULT as RERANKER
from cli.terminal import EditionName, EmbedderName, Json, RerankerName, progress_bar, show
from qa.models import BOOK
from qa.models import DEFAULT as MODEL

if TYPE_CHECKING:
    from qa.answer import Answer, Assistant

app = typer.Typer()

ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        envvar="STICKLER_MODEL",
        help="smollm2-135m, none, a .gguf or tuned .safetensors file, NAME@http://HOST/v1, "
        "a folder or a hub's id.",
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
    reranker: RerankerName = RERANKER,
    words: Words = None,
    as_json: Json = False,
) -> None:
    """Answer a question, with the rules that decide it."""
    asked = question if question is not None else _standard_input()
    assistant = _assistant(model, edition, embedder, reranker, words)
    answer = _told(assistant, asked, (), quiet=as_json)
    if as_json:
        show(answer.to_json(), [], as_json=True)


@app.command()
def chat(
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    reranker: RerankerName = RERANKER,
    words: Words = None,
) -> None:
    """Ask one question after another; a follow-up keeps its subject. An empty line ends it."""
    assistant = _assistant(model, edition, embedder, reranker, words)
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


def _assistant(
    model: str, edition: str | None, embedder: str, reranker: str, words: bool | None
) -> "Assistant":
    from qa.answer import Assistant
    from qa.settings import Settings

    settings = Settings(model, embedder, reranker, edition or CURRENT, show_generated=words)
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
        _show_answer(answer)
    return answer


def _show_answer(answer: "Answer") -> None:
    """The cited rules set off, the decisive sentence marked, all else dimmed below."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    cited = [citation for citation in answer.citations if citation.quote]
    if answer.standalone_question:
        console.print(Text(f"Understood as: {answer.standalone_question}", "dim"))
    if answer.verdict:
        console.print(Text(answer.verdict.upper(), "bold"))
    if answer.abstained or not cited:
        console.print(Text(answer.text))
    elif answer.said:
        console.print(Text(answer.said))
    for citation in cited:
        console.print(
            Text.assemble(
                (f"{citation.number} {citation.heading}".strip(), "bold"), f" [{citation.edition}]"
            )
        )
        before, _, behind = citation.text.partition(citation.quote)
        behind += " [cut off in the source]" if citation.truncated else ""
        whole = citation.quote == citation.text
        quote = citation.quote if whole else f"»{citation.quote}«"
        told = Text.assemble(before, (quote, "" if whole else "bold"), behind)
        console.print(Padding(told, (0, 0, 0, 2), expand=False))
    for line in _small_print(answer, {citation.number for citation in cited}):
        console.print(Text(line, "dim"))


def _small_print(answer: "Answer", cited: set[str]) -> list[str]:
    lines = []
    failed = [citation.number for citation in answer.citations if not citation.quote]
    if failed:
        lines.append(f"Not checked, and not to be trusted: the model named {', '.join(failed)}.")
    others = [h.passage.number for h in answer.hits if h.passage.number not in cited]
    if others and answer.model != BOOK and not answer.abstained:
        lines.append(f"Also read: {', '.join(others)}")
    if answer.reason and not answer.abstained:
        lines.append(answer.reason)
    sure = "" if answer.model == BOOK else f", confidence {answer.confidence:.2f}"
    return [*lines, f"Edition {answer.edition}, model {answer.model}{sure}"]


def _standard_input() -> str:
    if sys.stdin.isatty():
        raise SticklerError("There is no question: write it behind the command.")
    data = sys.stdin.buffer.read(1 << 20)
    return data.decode("utf-8", errors="replace").strip()


def _next_question() -> str:
    if sys.stdin.isatty():
        typer.secho("? ", bold=True, nl=False, err=True)
    return sys.stdin.readline().strip()
