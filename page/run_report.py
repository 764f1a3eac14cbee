"""An evaluation run as HTML: figures, plots, and the items that went wrong."""

from collections.abc import Sequence
from html import escape

from eval import report
from eval.examiner import Record
from eval.run import Run
from index.editions import Rulebook
from index.errors import SticklerError
from index.rulebook import Edition
from page.cards import link

_VOICE = {"right, strict", "right, lenient", "form kept"}  # of a model that speaks, but in:
_BY_EVIDENCE = "outcome"
_WRONG = 25  # items of a report
_FOUND = 10  # rules that were found for an item
WELCOME = (
    '<div class="report"><h2>Measure it</h2><p class="quiet">Ask a set of questions whose deciding '
    "rules are known, and see how often they are found and cited. A few items give wide "
    "intervals: the more, the surer.</p></div>"
)


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


def _wrong(name: str, lines: Sequence[Record], book: Rulebook) -> str:
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


def _item(line: Record, book: Rulebook) -> str:
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


def _links(numbers: Sequence[str], line: Record, book: Rulebook) -> str:
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
