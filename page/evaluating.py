"""Evaluation runs of the page: begun, stopped, listed, and each one's report as HTML."""

import contextlib
import datetime
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from eval import items, report
from eval.asking import Line
from eval.items import EvalItem
from eval.run import Plan, Run, Runner, open_run
from index import files
from index.editions import Rulebook
from index.errors import SticklerError
from index.rulebook import Edition
from page.cards import link
from page.service import Service
from page.work import Work
from qa.models import NONE
from qa.settings import Settings

LEAST, USUAL, MOST = 5, 20, 200  # items of a run
_VOICE = {"right, strict", "right, lenient", "form kept"}  # of a model that speaks, but in:
_BY_EVIDENCE = "outcome"
_LISTED = 30  # runs
_WRONG = 25  # items of a report
_FOUND = 10  # rules that were found for an item
_CALLED = {
    "rule": "which rule does an example illustrate?",
    "outcome": "which outcome is right?",
    "verdict": "is a claim right?",
    "free": "the examples' situations, answered freely",
    "players": "questions in players' words",
    "players-held-out": "the half of them that no threshold was set on",
    "unanswerable": "questions that the rules do not settle",
    "examples": "the examples as they stand",
}
WELCOME = (
    '<div class="report"><h2>Measure it</h2><p class="quiet">Ask a set of questions whose deciding '
    "rules are known, and see how often they are found and cited. A few items give wide "
    "intervals: the more, the surer.</p></div>"
)


def sets() -> list[tuple[str, str]]:
    """Every set as (what it is called, its name), a user's own ones last."""
    named = [
        (f"{name}: {_CALLED[name]}" if name in _CALLED else name, name) for name in items.NAMES
    ]
    own = sorted(path.stem for path in (files.home() / "sets").glob("*.jsonl"))
    return [*named, *((f"{name}: your own", name) for name in own)]


class Evaluation(Work[Run]):
    """A run whose chunks each wait for their turn among those who ask."""

    def run(self, name: str, count: int, folder: Path) -> Run:
        assistant = self.assistant()
        speaks = self.settings.speaks and self.settings.model != NONE
        model = self.settings.model if speaks else NONE
        if name == "verdict" and not speaks:
            raise SticklerError(
                "The set verdict asks a model that speaks: turn one on in the settings."
            )
        plan = Plan((name,), model, self.settings.embedder, count)
        runner = Runner(plan, assistant.searcher, assistant.model)
        runner.items[name] = spread(items.load(name, assistant.book), count)
        with contextlib.ExitStack() as chunk:

            def step(done: int, total: int) -> None:  # called before each chunk, and at the end
                chunk.close()
                self.tell(done, total)
                if done < total:
                    self.goes_on()
                    chunk.enter_context(self.turn())

            return runner.run(folder, progress=step)


def spread(those: Sequence[EvalItem], count: int) -> list[EvalItem]:
    """So many of a set, from all over it: its first ones are all about the same few rules."""
    step = max(1.0, len(those) / count)
    return [those[int(place * step)] for place in range(min(count, len(those)))]


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int
    words: str
    run: Run | None = None


class Evaluations:
    """One at a time: it takes what others' questions leave."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._one = threading.Lock()

    def evaluate(
        self, name: str, count: int, settings: Settings, stop: threading.Event
    ) -> Iterator[Progress]:
        if not self._service.uploads:
            raise SticklerError("Runs cannot be started here: use 'stickler eval run'.")
        if name not in (known for _, known in sets()):
            raise SticklerError(f"There is no question set '{name[:40]}': choose one of the list.")
        if not LEAST <= count <= MOST:
            raise SticklerError(f"Cannot run {count} items: choose {LEAST} to {MOST}.")
        if not self._one.acquire(blocking=False):
            raise SticklerError("Another evaluation is running: wait for it to end.")
        try:
            work = Evaluation(self._service, settings, stop)
            steps = work.steps(lambda: work.run(name, count, _folder(name)))
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    yield Progress(work.total, work.total, "", end.value)
                    return
                yield Progress(work.done, work.total, work.words)
        finally:
            self._one.release()


def _folder(name: str) -> Path:
    now = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3]
    return _runs() / f"{now}-{name}"


def _runs() -> Path:
    return files.home() / "runs"


def listed() -> list[tuple[str, str]]:
    """The last runs as (what it is called, its folder's name), newest first."""
    folders = _runs().iterdir() if _runs().is_dir() else iter(())
    found = []
    for folder in sorted((each for each in folders if each.is_dir()), reverse=True):
        with contextlib.suppress(SticklerError):  # not a run, or one of another time
            run = open_run(folder)
            if run.lines:
                found.append((_called(run), folder.name))
        if len(found) == _LISTED:
            break
    return found


def _called(run: Run) -> str:
    when = datetime.datetime.fromtimestamp(run.folder.stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    return f"{', '.join(run.sets)}, {len(run.lines)} items, {run.made_with['model']} ({when})"


def opened(name: str) -> Run:
    """One of the runs that are listed."""
    if name not in (known for _, known in listed()):
        raise SticklerError("There is no such run any more: choose another.")
    return open_run(_runs() / name)


def shown(run: Run, book: Rulebook) -> str:
    """A run's figures, plots and the items that went wrong."""
    made = run.made_with
    editions = ", ".join(made["editions"])
    head = (
        f'<h2>{escape(", ".join(run.sets))}</h2><p class="quiet">{len(run.lines)} items, edition '
        f"{escape(editions)}, model {escape(made['model'])}, settings {escape(made['settings'])}"
        f"</p>"
    )
    parts = [
        f"{_main(run, name)}{_figures(run, name)}"
        f'<section class="plots" aria-label="Plots">{report.plots_of(name, run.of(name))}</section>'
        f"{_wrong(name, run.of(name), book)}"
        for name in run.sets
    ]
    return f'<div class="report">{head}{"".join(parts)}</div>'


def _main(run: Run, name: str) -> str:
    """What the set is about first of all."""
    main = report.main_measure(name)
    return "".join(
        f'<p class="main-figure"><b>{f.value:.2f}</b> {escape(main)}, probably {f.low:.2f} to '
        f"{f.high:.2f}</p>"
        for each, what, f in report.table(run)
        if (each, what) == (name, main)
    )


def _figures(run: Run, name: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(what)}</th><td>{f.value:.3f}</td>'
        f"<td>{f.low:.3f} to {f.high:.3f}</td><td>{f.items}</td></tr>"
        for each, what, f in report.table(run)
        if each == name and (run.made_with["model_hash"] or _without_voice(name, what))
    )
    head = "".join(
        f'<th scope="col">{each}</th>' for each in ("measure", "value", "95 % interval", "items")
    )
    return (
        f'<table class="figures"><caption class="unseen">Figures of {escape(name)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _without_voice(name: str, measure: str) -> bool:
    """Whether a measure says something where no model spoke."""
    return not measure.endswith(", raw") and (name == _BY_EVIDENCE or measure not in _VOICE)


def _wrong(name: str, lines: Sequence[Line], book: Rulebook) -> str:
    wrong = report.worst(name, lines)
    if not wrong:
        return "<h3>None went wrong</h3>"
    measure = escape(report.main_measure(name))
    rows = "".join(_item(line, book) for line in wrong[:_WRONG])
    many = f"{len(wrong)} of {len(lines)} went wrong"
    return (
        f'<section class="also wrong" aria-label="What went wrong"><h3>{many} ({measure}), '
        f"the surest first</h3>{rows}</section>"
    )


def _item(line: Line, book: Rulebook) -> str:
    rows = [
        ("Deciding rules", _links(line["gold_rules"], line, book) or "none: it is not settled"),
        ("Found", _links(line["found"][:_FOUND], line, book)),
        ("Cited", _links(line["cited"], line, book) or "none"),
        ("Confidence", f"{line['confidence']:.2f}" + (", refused" if line["abstained"] else "")),
        ("Right", escape(str(line.get("gold") or line["gold_answer"] or ""))),
        ("Read as", escape(str(line.get("lenient") or ""))),
        ("The model said", escape(line["raw"])),
    ]
    told = "".join(f"<p><b>{name}:</b> {value}</p>" for name, value in rows if value)
    return (
        f'<details class="read"><summary>{escape(line["question"])}</summary>'
        f'<div class="told">{told}</div></details>'
    )


def _links(numbers: Sequence[str], line: Line, book: Rulebook) -> str:
    """Rules that open in place; those that decide are marked."""
    edition = _edition(line["edition"], book)
    shown = []
    for number in numbers:
        text = link(number, edition) if edition else escape(number)
        decides = number in line["gold_rules"] and numbers is not line["gold_rules"]
        shown.append(f"<mark>{text}</mark>" if decides else text)
    return ", ".join(shown)


def _edition(name: str, book: Rulebook) -> Edition | None:
    try:
        return book.edition(name)
    except SticklerError:  # it was removed since
        return None
