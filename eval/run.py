"""An evaluation run: asks every item of some sets and computes the figures.

A run is a folder: records.jsonl is its journal (the run's conditions, then one record per item),
summary.json has the figures. If a run is started again, it resumes where it was interrupted.

>>> Runner(Plan(("dev",), model="none"), Resources()).run(Path("runs/dev"))
"""

import contextlib
import importlib.metadata
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import index
import prompts
import qa
from eval import items, metrics
from eval.examiner import Examiner, Record, partner
from index import files
from index.embedder import Progress
from index.errors import Action, Remedy, SticklerError
from index.stages import ScoreWeights
from qa import journal, models
from qa.resources import Resources
from qa.settings import Settings

# BM25 still indexes the expansion questions together with their rules.
_FUSED = ScoreWeights(question=-math.inf, heading=0, around=0, reference=0, example=0, maxsim=0)
# Search with all its stages, and with fewer.
VARIANTS = {
    "default": ScoreWeights(),
    "fused": _FUSED,
    "dense": replace(_FUSED, bm25=0),
    "bm25": replace(_FUSED, dense=0),
}
RULES = ("found", "gold", "placebo")  # by search, the deciding ones, another question's
_RECORDS, _SUMMARY = "records.jsonl", "summary.json"
_RESULTS = (_SUMMARY, "report.html", "report.md")
# Items asked together: the most that an interruption can lose.
_CHUNK_WITH_MODEL, _CHUNK_WITHOUT_MODEL = 8, 64


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run measures."""

    sets: tuple[str, ...] = items.DEFAULT
    model: str = models.DEFAULT
    embedder: str = Settings().embedder
    limit: int | None = None  # items of each set
    rules: str = "found"  # shown to the model: one of RULES
    variant: str = "default"  # of search
    answer_tokens: int = Settings().answer_tokens  # 0: only verdicts, no sentences

    @property
    def settings(self) -> Settings:
        """What the questions are asked with."""
        return Settings(self.model, self.embedder, answer_tokens=self.answer_tokens)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its folder has it."""

    folder: Path
    made_with: dict[str, Any]
    records: list[Record]

    def of(self, name: str) -> list[Record]:
        """The records of one set."""
        return [record for record in self.records if record["set"] == name]

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(record["set"] for record in self.records))


class Runner:
    """Asks the items of a plan; `resources` have the plan's embedding model."""

    def __init__(self, plan: Plan, resources: Resources) -> None:
        if plan.variant not in VARIANTS:
            raise SticklerError(
                f"There is no search variant '{plan.variant}'", f"choose {', '.join(VARIANTS)}"
            )
        if plan.rules not in RULES:
            raise SticklerError(
                f"There is no choice of rules '{plan.rules}'", f"choose one of {', '.join(RULES)}"
            )
        self.plan = plan
        self.items = {name: self._load(name, resources)[: plan.limit] for name in plan.sets}
        self._model = resources.model(plan.model)
        self._resources = resources.with_score_weights(VARIANTS[plan.variant])
        self._examiner = Examiner(plan.settings, self._resources)

    def _load(self, name: str, resources: Resources) -> list[items.EvalItem]:
        """The items of a set; where only verdicts are wanted, those that ask for one."""
        wanted = items.load(name, resources.rulebook)
        return wanted if self.plan.answer_tokens else [i for i in wanted if i.gold_verdict]

    def made_with(self) -> dict[str, Any]:
        """Everything that the figures depend on."""
        searcher = self._resources.searcher
        return {
            **asdict(self.plan),
            "sets": list(self.plan.sets),
            "items": {name: items.version(those) for name, those in self.items.items()},
            "editions": sorted({i.edition for those in self.items.values() for i in those}),
            "documents": searcher.index.manifest["documents"],
            "embedder_hash": searcher.embedder.hash,
            "model_hash": self._model.hash if self._model else None,
            "settings": self.plan.settings.hash,
            "prompts": files.code(prompts),
            "code": [importlib.metadata.version("stickler"), files.code(index, qa, _eval())],
        }

    def run(
        self,
        folder: Path,
        restart: bool = False,
        progress: Progress | None = None,
        chunk_size: int | None = None,
    ) -> Run:
        """Ask the items that have no record in the folder yet, `chunk_size` at a time.

        `restart` deletes the records of an earlier run; without it, a run under other conditions
        raises SticklerError. `progress` is called before each chunk and at the end.
        """
        _prepare(folder, restart)
        size = chunk_size or (_CHUNK_WITH_MODEL if self._model else _CHUNK_WITHOUT_MODEL)
        tell = progress or (lambda done, total: None)
        total = sum(len(those) for those in self.items.values())
        records = journal.Journal(folder / _RECORDS, self.made_with(), restart, ("set", "id"))
        with contextlib.closing(records):
            done = records.kept
            for name, places in self._chunks(records, size):
                tell(done, total)
                records.add(self._ask(name, places))
                done += len(places)
            tell(total, total)
        run = open_run(folder)
        data = json.dumps(summary(run) | {"memory_mb": _memory_mb()}, indent=1, ensure_ascii=False)
        files.write_whole(folder / _SUMMARY, data.encode() + b"\n")
        return run

    def _chunks(self, records: journal.Journal, size: int) -> Iterator[tuple[str, list[int]]]:
        """The items without a record, as a set's name and places in it.

        A chunk has one edition and one kind of task.
        """
        for name, those in self.items.items():
            groups: dict[tuple[str, int], list[int]] = {}
            for place, item in enumerate(those):
                if records.claim(name, item.id):
                    groups.setdefault((item.edition, len(item.choices)), []).append(place)
            for places in groups.values():
                for start in range(0, len(places), size):
                    yield name, places[start : start + size]

    def _ask(self, name: str, places: Sequence[int]) -> list[Record]:
        those = self.items[name]
        asked = [those[place] for place in places]
        self._examiner.assistant(asked[0].edition).load()
        placebo = self.plan.rules == "placebo"
        partners = [partner(place, those) for place in places] if placebo else None
        start = time.perf_counter()
        records = self._examiner.ask(asked, partners, gold=self.plan.rules == "gold")
        ms = round((time.perf_counter() - start) * 1000 / len(records), 1)
        return [{"set": name, **record, "ms": ms} for record in records]


def open_run(folder: Path) -> Run:
    """A run from its folder, finished or not; SticklerError where there is none."""
    try:
        made_with, records = journal.read(folder / _RECORDS)
    except (OSError, ValueError) as error:
        raise SticklerError(
            f"{folder} holds no evaluation run ({error})", Remedy(Action.CONTINUE_RUN, str(folder))
        ) from None
    return Run(folder, made_with, records)


def summary(run: Run) -> dict[str, Any]:
    """The figures of every set."""
    return {
        "sets": {
            name: {
                measure: figure._asdict()
                for measure, figure in metrics.summary(run.of(name)).items()
            }
            for name in run.sets
        },
    }


def _prepare(folder: Path, restart: bool) -> None:
    """Create the folder, or reject one with other files; on a restart, delete old results."""
    with files.explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / _RECORDS).exists() and any(folder.iterdir()):
            raise SticklerError(f"{folder} holds other files", "name an empty folder, or a new one")
        if restart:
            for name in _RESULTS:
                (folder / name).unlink(missing_ok=True)


def _eval() -> ModuleType:
    return sys.modules[__name__.split(".")[0]]


def _memory_mb() -> float:
    """The most memory that this process has held."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
