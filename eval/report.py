"""A run as one self-contained page with plots and as Markdown; two runs compared item by item."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from eval import items, metrics, plots
from eval.examiner import Record
from eval.metrics import Difference, Figure
from eval.run import Run
from index import files
from index.errors import Action, Remedy, SticklerError

_WORST = 25
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c1c1c; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .25rem .75rem .25rem 0;
  text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
figure { margin: 1rem 0; } figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #333; }
.bar { fill: #7a9cc6; } .reach { stroke: #1c1c1c; stroke-width: 2; } .axis { stroke: #777; }
.even { stroke: #bbb; stroke-dasharray: 4; }
.curve { fill: none; stroke: #b5432b; stroke-width: 2; }
.dot { fill: #b5432b; }
details { margin: .5rem 0; } summary { cursor: pointer; } code { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { color: #e8e8e8; background: #181818; }
  svg text { fill: #ccc; } td, th { border-color: #444; } .reach { stroke: #eee; } }
"""


def write(run: Run) -> list[Path]:
    """Write report.html and report.md into the run's folder; gives their paths."""
    if not run.records:
        raise SticklerError(
            f"{run.folder} has no answers yet", Remedy(Action.CONTINUE_RUN, str(run.folder))
        )
    page, text = run.folder / "report.html", run.folder / "report.md"
    files.write_whole(page, html(run).encode())
    files.write_whole(text, markdown(run).encode())
    return [page, text]


def main_measure(name: str) -> str:
    """A set's most important measure; sets added by users are treated like dev."""
    return items.REGISTRY.get(name, items.REGISTRY["dev"]).main_measure


def about(run: Run) -> dict[str, str]:
    """The conditions of a run, for people."""
    made = run.made_with
    return {
        "model": f"{made['model']} ({made['model_hash'] or 'no language model'})",
        "embedder": f"{made['embedder']} ({made['embedder_hash']})",
        "editions": ", ".join(made["editions"]),
        "variant of search": made["variant"],
        "rules shown": made["rules"],
        "settings": made["settings"],
        "prompts": made["prompts"],
        "code": " ".join(made["code"]),
        "items": ", ".join(f"{name} {version}" for name, version in made["items"].items()),
    }


def table(run: Run) -> list[tuple[str, str, Figure]]:
    """(set, measure, figure) for everything that was measured."""
    return [
        (name, measure, figure)
        for name in run.sets
        for measure, figure in metrics.summary(run.of(name)).items()
    ]


def markdown(run: Run) -> str:
    """All figures of a run as one table in Markdown."""
    rows = [f"| {name} | {what} | {f} | {f.items} |" for name, what, f in table(run)]
    made = [f"- {name}: {value}" for name, value in about(run).items()]
    head = ["| set | measure | value [95% interval] | items |", "| --- | --- | --- | --- |"]
    return "\n".join(["# Evaluation", "", *made, "", *head, *rows, ""])


def html(run: Run) -> str:
    """A run as a page: for each set the figures, the plots and the items that went wrong."""
    made = "".join(
        f"<tr><th>{escape(name)}</th><td><code>{escape(value)}</code></td></tr>"
        for name, value in about(run).items()
    )
    parts = [f"<table>{made}</table>"]
    for name in run.sets:
        records = run.of(name)
        parts.append(f"<h2>{escape(name)}</h2>{_figures(metrics.summary(records))}")
        parts.append(plots_of(name, records))
        parts.append(_worst(name, records))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Stickler: evaluation</title><style>{_STYLE}</style></head>"
        f"<body><h1>Evaluation</h1>{''.join(parts)}</body></html>"
    )


def _figures(figures: Mapping[str, Figure]) -> str:
    rows = "".join(
        f"<tr><td>{escape(what)}</td><td>{f.value:.3f}</td><td>{f.low:.3f} to {f.high:.3f}</td>"
        f"<td>{f.items}</td></tr>"
        for what, f in figures.items()
    )
    return (
        "<table><tr><th>measure</th><th>value</th><th>95% interval</th><th>items</th></tr>"
        f"{rows}</table>"
    )


def plots_of(name: str, records: Sequence[Record]) -> str:
    """A set's main measure by kind and by section, and how well calibrated it is, as SVG."""
    measure = main_measure(name)
    scores = metrics.by_item(records).get(measure, {})
    parts = []
    for what, field in (("kind", "kind"), ("section", "section")):
        groups: dict[str, list[float]] = {}
        for record in records:
            if record["id"] in scores:
                groups.setdefault(str(record[field]), []).append(scores[record["id"]])
        rows = [(key, *metrics.mean(those)) for key, those in sorted(groups.items())]
        if rows:
            title = f"{measure}, by {what}"
            parts.append(_figure(title, plots.bars(rows, title)))
    bins = [(confidence, accuracy) for confidence, accuracy, _ in metrics.calibration(records)]
    if measure == "rule cited" and bins:
        error = metrics.calibration_error(records)
        title = f"Calibration: confidence and deciding rules cited (mean error {error:.3f})"
        plot = plots.line(bins, title, "confidence shown", "right", diagonal=True, dots=True)
        parts.append(_figure(title, plot))
        title = "Risk and coverage: answers without a deciding rule, most confident first"
        risk = plots.line(metrics.risk_coverage(records), title, "share answered", "wrong")
        parts.append(_figure(title, risk))
    return "".join(parts)


def _figure(title: str, plot: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{plot}</figure>"


def worst(name: str, records: Sequence[Record]) -> list[Record]:
    """The records of items that went wrong, the most confident answers first."""
    scores = metrics.by_item(records).get(main_measure(name), {})
    wrong = [record for record in records if scores.get(record["id"], 1.0) < 0.5]
    return sorted(wrong, key=lambda record: -record["confidence"])


def _worst(name: str, records: Sequence[Record]) -> str:
    wrong = worst(name, records)
    rows = "".join(
        f"<details><summary>{escape(record['question'][:160])}</summary><table>"
        + "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in _item(record))
        + "</table></details>"
        for record in wrong[:_WORST]
    )
    shown = f"{min(len(wrong), _WORST)} of {len(wrong)} wrong items, most confident first"
    return f"<h3>{shown}</h3>{rows}" if wrong else "<p>No wrong items.</p>"


def _item(record: Record) -> list[tuple[str, str]]:
    rows = [
        ("item", record["id"]),
        ("deciding rules", ", ".join(record["gold_rules"]) or "none"),
        ("found", ", ".join(record["found"])),
        ("cited", ", ".join(record["cited"]) or "none"),
        (
            "confidence",
            f"{record['confidence']:.2f}" + (", refused" if record["abstained"] else ""),
        ),
        ("gold", str(record.get("gold") or record["gold_answer"] or "")),
        ("parsed, strict and lenient", f"{record.get('strict')}, {record.get('lenient')}"),
        ("model output", record["raw"]),
    ]
    return [(name, value) for name, value in rows if value and value != "None, None"]


def compare(first: Run, second: Run) -> list[tuple[str, str, Difference]]:
    """(set, measure, difference) over the items that both runs have."""
    rows = []
    for name in (name for name in first.sets if name in second.sets):
        one, other = (metrics.by_item(run.of(name)) for run in (first, second))
        for measure in (measure for measure in one if measure in other):
            both = [item for item in one[measure] if item in other[measure]]
            if both:
                before, after = ([of[measure][item] for item in both] for of in (one, other))
                rows.append((name, measure, metrics.paired(before, after)))
    if not rows:
        raise SticklerError(
            f"{first.folder} and {second.folder} share no items", "compare runs of the same sets"
        )
    return rows
