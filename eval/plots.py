"""Small SVG plots, drawn here so that a report is a single self-contained file."""

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _EDGE = 460, 260, 44
_ROW = 22


def bars(rows: Sequence[tuple[str, float, float, float, int]], title: str) -> str:
    """A bar a row of (name, value, low, high, items), each from 0 to 1 with its interval."""
    label, width = 130, 190  # narrow enough for the text to stay readable on a phone
    height = _ROW * len(rows) + 24
    parts = []
    for at, (name, value, low, high, count) in enumerate(rows):
        y = 20 + at * _ROW
        middle = y + 8
        parts.append(
            f'<text x="{label - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="bar" x="{label}" y="{y}" width="{width * value:.1f}" height="16"/>'
            f'<line class="reach" x1="{label + width * low:.1f}" x2="{label + width * high:.1f}" '
            f'y1="{middle}" y2="{middle}"/>'
            f'<text x="{label + width + 8}" y="{y + 12}">{value:.2f} of {count}</text>'
        )
    return _svg(label + width + 80, height, title, parts)


def line(
    points: Sequence[tuple[float, float]],
    title: str,
    across: str,
    up: str,
    diagonal: bool = False,
    dots: bool = False,
) -> str:
    """Points from (0, 0) to (1, 1), joined."""
    inner_width, inner_height = _WIDTH - 2 * _EDGE, _HEIGHT - 2 * _EDGE

    def x(value: float) -> float:
        return _EDGE + inner_width * value

    def y(value: float) -> float:
        return _HEIGHT - _EDGE - inner_height * value

    parts = [
        f'<line class="axis" x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(0)}"/>'
        f'<line class="axis" x1="{x(0)}" y1="{y(0)}" x2="{x(0)}" y2="{y(1)}"/>'
        f'<text x="{x(0.5)}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>'
        f'<text x="{x(0) - 6}" y="{y(1) - 8}">{escape(up)}</text>'
    ]
    for tick in (0.0, 0.5, 1.0):
        parts.append(
            f'<text x="{x(tick)}" y="{y(0) + 16}" text-anchor="middle">{tick:g}</text>'
            f'<text x="{x(0) - 6}" y="{y(tick) + 4}" text-anchor="end">{tick:g}</text>'
        )
    if diagonal:
        parts.append(f'<line class="even" x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}"/>')
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
    parts.append(f'<polyline class="curve" points="{path}"/>')
    if dots:
        parts += [f'<circle class="dot" cx="{x(a):.1f}" cy="{y(b):.1f}" r="4"/>' for a, b in points]
    return _svg(_WIDTH, _HEIGHT, title, parts)


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(title, quote=True)}">{"".join(parts)}</svg>'
    )
