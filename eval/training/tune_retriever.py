"""Trains a retriever, writes its weights and its card.

>>> tune(Recipe(limit=40), Path("weights"), progress)
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from eval.training import data, loop
from eval.training.card import Card, dense_hits
from eval.training.retriever import Retriever
from index import files, library, tuned_weights
from index.embedder import PLAIN, Embedder, Progress


@dataclass(frozen=True, slots=True)
class Recipe:
    """The hyperparameters of a training run."""

    epochs: int = 3
    rate: float = 1e-4  # the highest learning rate
    frozen: int = 0  # lower layers
    seed: int = 0
    limit: int | None = None  # questions


def tune(recipe: Recipe, out: Path | None, progress: Progress) -> tuple[Card, Path]:
    """Train, write the weights, measure before and after; gives the card and the weights' path.

    Weights and card go to the folder `out`, or to the data folder, where checkpoints are kept too:
    started again with the same recipe, training resumes.
    """
    known = data.load(recipe.limit)
    task = Retriever(known, recipe.frozen)
    work = files.data_folder() / "tuning" / "retriever"
    key = f"retriever {known.hash} {recipe}"
    steps, seconds = loop.train(task, recipe.epochs, recipe.rate, recipe.seed, work, key, progress)
    base, book = Embedder(PLAIN), library.load().current
    path = (out or work) / f"retriever{tuned_weights.SUFFIX}"
    tuned_weights.write(path, base.folder, loop.trained_weights(task))
    card = Card(
        model="retriever",
        base=tuned_weights.fingerprint(base.folder),
        data=known.hash,
        questions=len(known.questions),
        settings=asdict(recipe),
        steps=steps,
        minutes=round(seconds / 60, 1),
        before=dense_hits(base, book, recipe.limit),
        after=dense_hits(Embedder(str(path)), book, recipe.limit),
        weights=files.digest(path),
    )
    card.write(path.with_suffix(".json"))
    return card, path
