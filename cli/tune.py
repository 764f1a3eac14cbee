"""The commands that teach the small models: stickler tune ..."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.terminal import Json, progress_bar, show

if TYPE_CHECKING:
    from eval.training.card import Card, Figures
    from eval.training.data import Data
    from eval.training.loop import Task

app = typer.Typer()
tune_app = typer.Typer(no_args_is_help=True)
app.add_typer(tune_app, name="tune")

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Where to; default: the data folder.")
]
Epochs = Annotated[int, typer.Option(min=1, help="How often each question is seen.")]
Rate = Annotated[float, typer.Option(help="The highest learning rate.")]
Frozen = Annotated[int, typer.Option(min=0, max=5, help="Lower layers that stay as they are.")]
Seed = Annotated[int, typer.Option(help="Chooses the order of questions and near misses.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")]


@dataclass(frozen=True, slots=True)
class Recipe:
    epochs: int
    rate: float
    frozen: int | None  # lower layers, where one may choose
    seed: int
    limit: int | None
    roundabout: bool = False


@tune_app.callback()
def group() -> None:
    """Teach the small models on players' questions; hours of work, which goes on when killed."""


@tune_app.command("retriever")
def retriever(
    out: Out = None,
    epochs: Epochs = 3,
    rate: Rate = 1e-4,
    frozen: Frozen = 0,
    seed: Seed = 0,
    limit: Limit = None,
    roundabout: Annotated[
        bool, typer.Option(help="Also on questions put in words far from the rule's.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tune the embedding model to bring questions near the rules that decide them."""
    from eval.training.card import by_vectors
    from eval.training.retriever import Retriever
    from index import library
    from index.embedder import PLAIN, Embedder

    book = library.load().current
    _tune(
        "retriever",
        Recipe(epochs, rate, frozen, seed, limit, roundabout),
        lambda data: Retriever(data, frozen),
        lambda path: by_vectors(Embedder(str(path) if path else PLAIN), book, limit),
        out,
        as_json,
        more=False,
    )


@tune_app.command("mean")
def mean(
    retrievers: Annotated[
        list[Path], typer.Argument(help="Tuned retrievers, each with its card beside it.")
    ],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Take the mean of tuned retrievers: of what each learned, what they share is kept."""
    from eval.training.card import Card, by_vectors
    from eval.training.mean import cards, tensors
    from index import files, library, tuned_weights
    from index.embedder import PLAIN, Embedder

    told, base = cards(retrievers), Embedder(PLAIN).folder
    path = (out or files.home() / "tuning" / "mean") / f"retriever{tuned_weights.ENDING}"
    tuned_weights.write(path, base, tensors(retrievers, base))
    book = library.load().current
    card = Card(
        model="retriever",
        base=tuned_weights.fingerprint(base),
        data=" ".join(each["data"] for each in told),
        questions=max(each["questions"] for each in told),
        settings={"mean of": told},
        steps=sum(each["steps"] for each in told),
        minutes=round(sum(each["minutes"] for each in told), 1),
        before=by_vectors(Embedder(PLAIN), book, None),
        after=by_vectors(Embedder(str(path)), book, None),
        weights=files.digest(path),
    )
    card.write(path.with_suffix(".json"))
    show(asdict(card), _lines(card, path), as_json)


@tune_app.command("reranker")
def reranker(
    out: Out = None,
    epochs: Epochs = 1,
    rate: Rate = 2e-4,
    seed: Seed = 0,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Tune a reader that puts the deciding rule above near misses."""
    from eval.training.card import by_search
    from eval.training.reranker import Reranker
    from index import rerank
    from index.embedder import PLAIN, Embedder
    from index.searcher import Searcher

    _tune(
        "reranker",
        Recipe(epochs, rate, None, seed, limit),
        lambda data: Reranker(data, Embedder(PLAIN)),
        lambda path: by_search(Searcher.open(reranker=str(path) if path else rerank.NONE), limit),
        out,
        as_json,
    )


@tune_app.command("answers")
def answers(
    out: Out = None,
    epochs: Epochs = 1,
    rate: Rate = 5e-4,
    frozen: Annotated[
        int, typer.Option(min=0, max=29, help="Lower layers that stay as they are.")
    ] = 10,
    seed: Seed = 0,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Tune an adapter of the embedded language model: yes or no, and why, from the rules found."""
    from eval.training.answers import Answers
    from eval.training.card import by_words
    from index.embedder import Embedder
    from index.searcher import Searcher
    from qa.models import DEFAULT, embedded
    from qa.models.adapted import Adapted
    from qa.models.local import Local

    def measured(path: Path | None) -> "Figures":
        model = Adapted(str(path)) if path else Local(DEFAULT)
        return by_words(model, Searcher.open(), limit)

    _tune(
        "answers",
        Recipe(epochs, rate, frozen, seed, limit),
        lambda data: Answers(data, frozen, Embedder()),
        measured,
        out,
        as_json,
        embedded.packaged(),
        state=lambda data: f"{data.hash}-{data.answers_hash}",
    )


def _tune(
    name: str,
    recipe: Recipe,
    made: "Callable[[Data], Task]",
    measured: "Callable[[Path | None], Figures]",
    out: Path | None,
    as_json: bool,
    base: Path | None = None,
    more: bool = True,
    state: "Callable[[Data], str]" = lambda data: data.hash,
) -> None:
    """Train, keep the weights, measure before and after, write the card."""
    from eval.training import data, loop
    from eval.training.card import Card
    from index import files, tuned_weights
    from index.embedder import PLAIN, Embedder

    known = data.load(recipe.limit, more, recipe.roundabout)
    key = f"{name} {state(known)} {recipe}"
    work = files.home() / "tuning" / name
    task = made(known)
    bar = progress_bar(f"Tuning the {name}")
    steps, seconds = loop.train(task, recipe.epochs, recipe.rate, recipe.seed, work, key, bar)
    base = base or Embedder(PLAIN).folder
    path = (out or work) / f"{name}.safetensors"
    tuned_weights.write(path, base, loop.weights(task))
    card = Card(
        model=name,
        base=tuned_weights.fingerprint(base),
        data=state(known),
        questions=len(known.questions),
        settings=asdict(recipe),
        steps=steps,
        minutes=round(seconds / 60, 1),
        before=measured(None),
        after=measured(path),
        weights=files.digest(path),
    )
    card.write(path.with_suffix(".json"))
    show(asdict(card), _lines(card, path), as_json)


def _lines(card: "Card", path: Path) -> list[str]:
    figures = [
        f"  {name}: {card.before.get(name, '-')} -> {after}" for name, after in card.after.items()
    ]
    return [
        f"{card.steps} steps over {card.questions} questions in {card.minutes} minutes.",
        "Players' questions, before -> after:",
        *figures,
        f"Kept as {path}, its card beside it.",
    ]
