"""The differences between two editions as the command line prints them: lines, Markdown, JSON."""

import textwrap
from collections.abc import Iterator
from typing import Any

import typer

from cli.terminal import mark_change, wrapped
from index.diff import Diff, RuleChange
from index.rulebook import Rule
from qa.markdown import escape

_GLIMPSE = 60  # characters of a rule where its words are not asked for
_MARKDOWN = {"same": "{}", "gone": "~~{}~~", "new": "**{}**"}


def summary(diff: Diff) -> str:
    """One sentence: from which edition to which, and how many rules of each kind."""
    return f"From {diff.old} to {diff.new}: {diff.summary}."


def as_lines(diff: Diff, words: bool) -> Iterator[str]:
    """For people: a line for each rule that changed, followed by its words if `words` is set."""
    yield summary(diff)
    yield from diff.notes
    for section in diff.sections:
        yield ""
        yield typer.style(f"{section.number} {section.name}".rstrip(), bold=True)
        for change in section.changes:
            kinds = " and ".join(change.kinds)
            line = f"  {_numbers(change)} {kinds}"
            yield line if words else f"{line}: {_glimpse(change.rule)}"
            if words and change.kinds != ("renumbered",):
                yield wrapped("".join(mark_change(*each) for each in change.words), indent=4)


def as_markdown(diff: Diff, words: bool) -> Iterator[str]:
    """A document with a heading for each section and an item for each rule that changed."""
    yield f"# From {diff.old} to {diff.new}\n"
    yield f"{diff.summary[:1].upper()}{diff.summary[1:]}."
    yield from (f"\n{escape(note)}" for note in diff.notes)
    for section in diff.sections:
        yield f"\n## {section.number} {escape(section.name)}\n"
        for change in section.changes:
            texts = [escape(_glimpse(change.rule))]
            if words:
                texts = [_marked(kind, text) for kind, text in change.words]
            kinds = " and ".join(change.kinds)
            yield f"- **{_numbers(change)}** ({kinds}): {''.join(texts)}".rstrip()


def as_json(diff: Diff, words: bool) -> dict[str, Any]:
    """For programs: counts, notes, and each section's changes with the rule before and after."""
    return {
        "old": diff.old,
        "new": diff.new,
        "counts": diff.counts,
        "notes": diff.notes,
        "sections": [
            {
                "number": section.number,
                "name": section.name,
                "changes": [_change_json(change, words) for change in section.changes],
            }
            for section in diff.sections
        ],
    }


def _change_json(change: RuleChange, words: bool) -> dict[str, Any]:
    row = {"kinds": change.kinds, "old": _rule_json(change.old), "new": _rule_json(change.new)}
    return {**row, "words": change.words} if words else row


def _rule_json(rule: Rule | None) -> dict[str, Any] | None:
    if rule is None:
        return None
    examples = [example.text for example in rule.examples]
    return {
        "number": rule.number,
        "heading": rule.heading,
        "text": rule.text,
        "examples": examples,
        "truncated": rule.truncated,
    }


def _numbers(change: RuleChange) -> str:
    if change.old is not None and "renumbered" in change.kinds:
        return f"{change.old.number} -> {change.rule.number}"
    return change.rule.number


def _glimpse(rule: Rule) -> str:
    return textwrap.shorten(rule.text, _GLIMPSE, placeholder=" ...")


def _marked(kind: str, text: str) -> str:
    """Words in Markdown, what went struck out and what came in bold; the space stays outside."""
    words = escape(" ".join(text.split()))
    space = " " if text[-1:].isspace() else ""
    return _MARKDOWN[kind].format(words) + space if words else space
