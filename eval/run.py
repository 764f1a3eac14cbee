"""An evaluation run: every item asked, one line an item as it goes, and figures at the end.

A run lies in a folder: run.json says what it was made with, lines.jsonl what came of each item,
summary.json the figures. The same command goes on where a killed run was.
"""

import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import index
import prompts
import qa
from eval import items, metrics
from eval.examiner import Examiner, Record, partner
from eval.items import EvalItem
from index import files
from index.embedder import Progress
from index.errors import SticklerError
from index.searcher import Searcher, Weights
from qa import models
from qa.settings import Settings

_FUSED = Weights(heading=0, around=0, reference=0, example=0, wording=0, reading=0)
WAYS = {
    "reranked": Weights(),
    "weighed": Weights(reading=0),
    "fused": _FUSED,
    "dense": replace(_FUSED, lexical=0),
    "lexical": replace(_FUSED, dense=0),
}
_OWN = ("lines.jsonl", "summary.json", "report.html", "report.md")
_SPEAKING, _SILENT = 8, 64  # items that are asked together: what a kill can lose


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run measures."""

    sets: tuple[str, ...] = items.ALL
    model: str = models.DEFAULT
    embedder: str = Settings().embedder
    reranker: str = Settings().reranker
    limit: int | None = None
    placebo: bool = False  # each question on another question's rules
    way: str = "reranked"

    @property
    def settings(self) -> Settings:
        """A model that is measured has to speak, and is asked for its verdict."""
        return Settings(self.model, self.embedder, self.reranker, show_generated=True, verdicts=True)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it lies in its folder."""

    folder: Path
    made_with: dict[str, Any]
    lines: list[Record]

    def of(self, name: str) -> list[Record]:
        return [line for line in self.lines if line["set"] == name]

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(line["set"] for line in self.lines))


class Runner:
    """Has loaded what a plan needs."""

    def __init__(
        self,
        plan: Plan,
        searcher: Searcher | None = None,
        model: models.Model | None = None,
        progress: Progress | None = None,
    ) -> None:
        if plan.way not in WAYS:
            raise SticklerError(f"There is no way '{plan.way}': choose {', '.join(WAYS)}.")
        self.plan = plan
        opened = searcher or Searcher.open(plan.embedder, progress, plan.reranker)
        weights = WAYS[plan.way]
        reader = opened.reranker if weights.reading else None
        self.searcher = Searcher(opened.book, opened.index, opened.embedder, weights, reader)
        self.model = model or models.load(plan.model)
        self.items = {name: self._items(name) for name in plan.sets}
        self._examiner = Examiner(plan.settings, self.searcher, self.model)

    def _items(self, name: str) -> list[EvalItem]:
        return items.load(name, self.searcher.book)[: self.plan.limit]

    def made_with(self) -> dict[str, Any]:
        """All that the figures depend on."""
        return {
            **asdict(self.plan),
            "sets": list(self.plan.sets),
            "items": {name: items.version(those) for name, those in self.items.items()},
            "editions": sorted({i.edition for those in self.items.values() for i in those}),
            "documents": self.searcher.index.manifest["documents"],
            "embedder_hash": self.searcher.embedder.hash,
            "reranker_hash": self.searcher.reranker.hash if self.searcher.reranker else None,
            "model_hash": self.model.hash if self.model else None,
            "settings": self.plan.settings.hash,
            "prompts": files.code(prompts),
            "code": [importlib.metadata.version("stickler"), files.code(index, qa, _own())],
        }

    def run(
        self,
        folder: Path,
        restart: bool = False,
        progress: Progress | None = None,
        together: int | None = None,
    ) -> Run:
        """Ask what has not been asked yet, so many `together`; what was, is kept."""
        made_with = self.made_with()
        journal = _Journal(folder, made_with, restart)
        todo = [
            (name, place)
            for name, those in self.items.items()
            for place, item in enumerate(those)
            if (name, item.id) not in journal.done
        ]
        total = sum(len(those) for those in self.items.values())
        with journal:
            size = together or (_SPEAKING if self.model else _SILENT)
            for chunk in _chunks(todo, self.items, size):
                if progress:
                    progress(len(journal.lines), total)
                journal.add(self._asked(chunk))
            if progress:
                progress(total, total)
        run = Run(folder, made_with, journal.lines)
        _write(folder / "summary.json", summary(run) | {"memory_mb": _memory_mb()})
        return run

    def _asked(self, chunk: Sequence[tuple[str, int]]) -> list[Record]:
        name = chunk[0][0]
        those = [self.items[name][place] for _, place in chunk]
        self._examiner.assistant(those[0].edition).load()
        start = time.perf_counter()
        partners = (
            [partner(place, self.items[name]) for _, place in chunk] if self.plan.placebo else None
        )
        lines = self._examiner.ask(those, partners)
        ms = round((time.perf_counter() - start) * 1000 / len(lines), 1)
        return [{"set": name, **line, "ms": ms} for line in lines]


def _chunks(
    todo: Sequence[tuple[str, int]], by_set: Mapping[str, Sequence[EvalItem]], size: int
) -> Iterator[list[tuple[str, int]]]:
    """Items of one set and edition, a few at a time."""
    groups: dict[tuple[str, str, int], list[tuple[str, int]]] = {}
    for name, place in todo:
        item = by_set[name][place]
        groups.setdefault((name, item.edition, len(item.choices)), []).append((name, place))
    for those in groups.values():
        for start in range(0, len(those), size):
            yield those[start : start + size]


class _Journal:
    """The lines so far; one that a kill tore off is dropped, and its item asked again."""

    def __init__(self, folder: Path, made_with: dict[str, Any], restart: bool) -> None:
        self._path = folder / "lines.jsonl"
        with files.explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
        begun = (folder / "run.json").exists()
        if not begun and any(folder.iterdir()):
            raise SticklerError(f"{folder} holds other files: name an empty folder, or a new one.")
        if begun and not restart:
            _check(folder, made_with)
        else:
            with files.explained(folder):
                for name in _OWN:
                    (folder / name).unlink(missing_ok=True)
            _write(folder / "run.json", made_with)
        self.lines, end = _read(self._path)
        if self._path.exists():
            os.truncate(self._path, end)
        self.done = {(line["set"], line["id"]) for line in self.lines}

    def __enter__(self) -> "_Journal":
        self._file = self._path.open("ab")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, lines: Sequence[Record]) -> None:
        with files.explained(self._path):
            self._file.write(b"".join(_json(line) + b"\n" for line in lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        self.lines += lines


def _check(folder: Path, made_with: dict[str, Any]) -> None:
    before = open_run(folder).made_with
    changed = [name for name in made_with if before.get(name) != made_with[name]]
    if changed:
        raise SticklerError(
            f"{folder} holds a run made with something else ({', '.join(changed)}): name another "
            "folder, or begin it anew with --restart."
        )


def open_run(folder: Path) -> Run:
    """A run from its folder, whole or as far as it came."""
    try:
        made_with = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        lines, _ = _read(folder / "lines.jsonl")
    except (OSError, ValueError) as error:
        raise SticklerError(
            f"{folder} holds no evaluation run ({error}): make one with "
            f"'stickler eval run -o {folder}'."
        ) from None
    return Run(folder, made_with, lines)


def _read(path: Path) -> tuple[list[Record], int]:
    """The whole lines of a file, and where they end."""
    if not path.exists():
        return [], 0
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    try:
        return [json.loads(line) for line in data[:end].split(b"\n") if line], end
    except ValueError as error:
        raise SticklerError(
            f"{path} is damaged ({error}): begin the run anew with --restart."
        ) from None


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


def _write(path: Path, value: Mapping[str, Any]) -> None:
    files.write_whole(path, json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n")


def _json(line: Record) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode()


def _own() -> ModuleType:
    return sys.modules[__name__.split(".")[0]]


def _memory_mb() -> float:
    """The most memory that this process has held."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
