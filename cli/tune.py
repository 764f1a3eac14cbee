"""The commands that train: stickler tune ...

Run as: stickler tune retriever -o weights
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import EmbedderName, Json
from cli.terminal import progress_bar, show
from index.embedder import DEFAULT as EMBEDDER

if TYPE_CHECKING:
    from eval.training.card import Card

app = typer.Typer()
tune_app = typer.Typer(help="Fine-tune the models on players' questions.", no_args_is_help=True)
app.add_typer(tune_app, name="tune")
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Output folder; default: the data folder.")
]
Rate = Annotated[float, typer.Option(help="Peak learning rate.")]
Seed = Annotated[int, typer.Option(help="Seed for the order of questions.")]


@tune_app.command("retriever")
def retriever(
    out: Out = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training data.")] = 3,
    rate: Rate = 1e-4,
    frozen: Annotated[
        int, typer.Option(min=0, max=5, help="Number of lower layers to freeze.")
    ] = 0,
    seed: Seed = 0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Train on only this many questions.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train the embedding model to find deciding rules; about an hour, resumes if interrupted.

    The shipped vectors belong to the shipped retriever: if you replace it, recompute them with
    'stickler tune vectors'.
    """
    from eval.training.tune_retriever import Recipe, tune

    recipe = Recipe(epochs, rate, frozen, seed, limit)
    card, path = tune(recipe, out, progress_bar("Tuning the retriever"))
    measured = "By vectors alone, on the dev set"
    to_ship = (
        "put both into index/weights, then run 'stickler tune vectors', "
        "'stickler index build' and 'stickler eval calibrate'"
    )
    show(asdict(card), _lines(card, path, measured, to_ship), as_json)


@tune_app.command("answers")
def answers(
    out: Out = None,
    rate: Rate = 2e-4,
    seed: Seed = 0,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only this many steps, of about 16 questions each.")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--start", exists=True, dir_okay=False, help="An adapter to continue training from."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train the default language model to read rules; two to three hours, resumes if interrupted.

    Needs 18 GB of memory and the packages of the 'tune' extra.
    """
    from eval.training.tune_answers import Recipe, tune

    card, path = tune(
        Recipe(rate, seed, limit, start), out, progress_bar("Tuning the language model")
    )
    measured = "On every third question of the dev set"
    to_ship = (
        "put both into qa/models/adapters, name the file in qa/models/catalog.toml, and run "
        f"'stickler eval calibrate --model {card.model}'"
    )
    show(asdict(card), _lines(card, path, measured, to_ship), as_json)


@tune_app.command("vectors")
def vectors(embedder: EmbedderName = EMBEDDER, as_json: Json = False) -> None:
    """Recompute the shipped vectors: expansion questions and out-of-scope questions."""
    from index import expansion
    from index.embedder import Embedder
    from qa import out_of_scope

    model = Embedder(embedder)
    paths = [
        part.write_vectors(model, progress_bar("Embedding")) for part in (expansion, out_of_scope)
    ]
    files = [str(path) for path in paths]
    show({"files": files}, [f"Wrote {file}." for file in files], as_json)


def _lines(card: "Card", path: Path, measured: str, to_ship: str) -> list[str]:
    figures = [
        f"  {name}: {card.before.get(name, '-')} -> {after}" for name, after in card.after.items()
    ]
    return [
        f"{card.steps} steps over {card.questions} questions in {card.minutes} minutes.",
        f"{measured}, before -> after:",
        *figures,
        f"Saved as {path}, with its card beside it.",
        f"To ship it: {to_ship}.",
    ]
