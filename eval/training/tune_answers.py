"""Trains an adapter for the default language model, writes it and its card.

>>> tune(Recipe(limit=2), Path("adapters"), progress)
"""

from dataclasses import dataclass
from pathlib import Path

from eval import items, metrics
from eval.examiner import Examiner
from eval.training import loop, lora, packs
from eval.training.answers import AnswerReader
from eval.training.card import Card, Figures
from index import files
from index.embedder import Progress
from index.errors import Action, Remedy, SticklerError
from index.searcher import Searcher
from qa.models import DEFAULT, NOT_HERE, catalog
from qa.models.gguf import GgufModel
from qa.resources import Resources
from qa.settings import Settings

_DEV_STRIDE = 3  # one in this many dev questions is asked before and after


@dataclass(frozen=True, slots=True)
class Recipe:
    """The hyperparameters of a training."""

    rate: float = 2e-4  # the highest learning rate
    seed: int = 0
    limit: int | None = None  # units: some sixteen questions each
    start: Path | None = None  # an adapter to continue training from


def tune(recipe: Recipe, out: Path | None, progress: Progress) -> tuple[Card, Path]:
    """Train, write the adapter, measure before and after; gives the card and the adapter's path.

    Adapter and card go to the folder `out`, or to the data folder, where checkpoints are kept too:
    started again with the same recipe, training resumes.
    """
    model = catalog.catalog()[DEFAULT]
    base = catalog.find(model)
    if base is None:
        reason = f"The language model {model.name} {NOT_HERE}"
        raise SticklerError(reason, Remedy(Action.GET_MODEL, model.name))
    units = packs.units(recipe.seed, Searcher.open(), recipe.limit)
    data = packs.fingerprint(units)
    work = files.data_folder() / "tuning" / "answers"
    started = files.digest(recipe.start) if recipe.start else ""
    task = AnswerReader(*lora.load(base), units)
    if recipe.start:
        lora.restore(recipe.start, loop.trained_weights(task), model.sha256)
    precision = "int8" if lora.has_int8() else "float32"
    key = f"answers {model.sha256} {data} {recipe.rate} {recipe.seed} {started} {precision}"
    steps, seconds = loop.train(task, 1, recipe.rate, recipe.seed, work, key, progress)
    path = (out or work) / f"{model.name}.gguf"
    lora.write(path, loop.trained_weights(task), model.sha256)
    del task  # six gigabytes
    card = Card(
        model=model.name,
        base=model.sha256,
        data=data,
        questions=sum(packs.readings(unit) for unit in units),
        settings={
            "rate": recipe.rate,
            "seed": recipe.seed,
            "limit": recipe.limit,
            "start": started,
            "rank": lora.RANK,
            "first_layer": lora.FIRST_LAYER,
            "frozen_weights": precision,
        },
        steps=steps,
        minutes=round(seconds / 60, 1),
        before=_verdicts(GgufModel(base), recipe.limit),
        after=_verdicts(GgufModel(base, adapter=path), recipe.limit),
        weights=files.digest(path),
    )
    card.write(path.with_suffix(".json"))
    return card, path


def _verdicts(model: GgufModel, limit: int | None) -> Figures:
    """How well a model tells yes from no, given the deciding rule."""
    asked = [item for item in items.dev()[::_DEV_STRIDE] if item.gold_verdict][:limit]
    settings = Settings(model.name, answer_tokens=0)
    examiner = Examiner(settings, Resources(load_model=lambda _: model))
    area = metrics.verdict_auc(examiner.ask(asked, gold=True))
    return {"yes/no AUC, deciding rule given": round(area.value, 3)} if area else {}
