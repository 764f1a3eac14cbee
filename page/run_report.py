"""An evaluation run as HTML: figures, plots, and the items that went wrong."""

from collections.abc import Sequence
from functools import lru_cache
from html import escape

from eval import check, plots, report
from eval.examiner import Record
from eval.run import Run
from index.editions import Rulebook
from index.errors import SticklerError
from index.rulebook import Edition
from page.cards import link

_OF_MODEL = {"right, strict", "right, lenient", "well-formed"}  # measures of a model, except in:
_BY_EVIDENCE = "outcome"  # which is measured without a model, too
_MAX_WRONG = 25  # items of a report
_MAX_FOUND = 10  # rules that were found for an item


@lru_cache(maxsize=1)
def render_published(rulebook: Rulebook) -> str:
    """The published figures as a plot, and how to measure them again: what the tab opens with."""
    rows = [
        (name, f.value, f.low, f.high, f.items) for name, f in check.published(rulebook).items()
    ]
    plot = plots.bars(rows, "Published figures, with their 95% intervals")
    return (
        '<div class="report"><h2>How accurate it is</h2><p class="quiet">The share of questions '
        "for which a deciding rule is ranked first, is in the top five, or is cited; and the "
        "share that is refused. <i>dev</i> is questions in players’ words, <i>test</i> harder "
        "ones that were not used to choose settings, <i>unsettled</i> questions that the "
        "shipped rules do not settle, which should be refused. The thin lines are 95% "
        "intervals. No language model is used.</p>"
        f'<section class="plots" aria-label="Published figures">{plot}</section>'
        '<p class="quiet">Run a set to measure it on this machine, with your settings. Few items '
        "give wide intervals; more items give more reliable figures.</p></div>"
    )


def render_run(run: Run, rulebook: Rulebook) -> str:
    """A run's figures, plots and the items that went wrong."""
    made = run.made_with
    editions = ", ".join(made["editions"])
    head = (
        f'<h2>{escape(", ".join(run.sets))}</h2><p class="quiet">{len(run.records)} items, edition '
        f"{escape(editions)}, model {escape(made['model'])}, settings {escape(made['settings'])}"
        f"</p>"
    )
    parts = [
        f"{_render_main(run, name)}{_render_figures(run, name)}"
        f'<section class="plots" aria-label="Plots">{report.plots_of(name, run.of(name))}</section>'
        f"{_render_wrong(name, run.of(name), rulebook)}"
        for name in run.sets
    ]
    return f'<div class="report">{head}{"".join(parts)}</div>'


def _render_main(run: Run, name: str) -> str:
    """What the set is about first of all."""
    main = report.main_measure(name)
    return "".join(
        f'<p class="main-figure"><b>{f.value:.2f}</b> {escape(main)}, 95% interval {f.low:.2f} to '
        f"{f.high:.2f}</p>"
        for each, what, f in report.table(run)
        if (each, what) == (name, main)
    )


def _render_figures(run: Run, name: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(what)}</th><td>{f.value:.3f}</td>'
        f"<td>{f.low:.3f} to {f.high:.3f}</td><td>{f.items}</td></tr>"
        for each, what, f in report.table(run)
        if each == name and (run.made_with["model_hash"] or _needs_no_model(name, what))
    )
    head = "".join(
        f'<th scope="col">{each}</th>' for each in ("measure", "value", "95% interval", "items")
    )
    return (
        f'<table class="figures"><caption class="unseen">Figures of {escape(name)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _needs_no_model(name: str, measure: str) -> bool:
    """Whether a measure says something where no model was asked."""
    return not measure.endswith(", raw") and (name == _BY_EVIDENCE or measure not in _OF_MODEL)


def _render_wrong(name: str, records: Sequence[Record], rulebook: Rulebook) -> str:
    wrong = report.worst(name, records)
    if not wrong:
        return "<h3>No wrong items</h3>"
    measure = escape(report.main_measure(name))
    rows = "".join(_render_item(record, rulebook) for record in wrong[:_MAX_WRONG])
    many = f"{len(wrong)} of {len(records)} items wrong"
    return (
        f'<section class="also wrong" aria-label="Wrong items"><h3>{many} ({measure}), '
        f"most confident first</h3>{rows}</section>"
    )


def _render_item(record: Record, rulebook: Rulebook) -> str:
    rows = [
        (
            "Deciding rules",
            _render_links(record["gold_rules"], record, rulebook) or "none: it is not settled",
        ),
        ("Found", _render_links(record["found"][:_MAX_FOUND], record, rulebook)),
        ("Cited", _render_links(record["cited"], record, rulebook) or "none"),
        (
            "Confidence",
            f"{record['confidence']:.2f}" + (", refused" if record["abstained"] else ""),
        ),
        ("Right", escape(str(record.get("gold") or record["gold_answer"] or ""))),
        ("Parsed as", escape(str(record.get("lenient") or ""))),
        ("The model wrote", escape(record["raw"])),
    ]
    facts = "".join(f"<p><b>{name}:</b> {value}</p>" for name, value in rows if value)
    return (
        f'<details class="read"><summary>{escape(record["question"])}</summary>'
        f'<div class="facts">{facts}</div></details>'
    )


def _render_links(numbers: Sequence[str], record: Record, rulebook: Rulebook) -> str:
    """Rules that open in place; those that decide are marked."""
    edition = _find_edition(record["edition"], rulebook)
    rows = []
    for number in numbers:
        text = link(number, edition) if edition else escape(number)
        decides = number in record["gold_rules"] and numbers is not record["gold_rules"]
        rows.append(f"<mark>{text}</mark>" if decides else text)
    return ", ".join(rows)


def _find_edition(name: str, rulebook: Rulebook) -> Edition | None:
    try:
        return rulebook.edition(name)
    except SticklerError:  # it was removed since
        return None
