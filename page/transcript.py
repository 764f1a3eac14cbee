"""What stays of a conversation: its turns, what is saved, and what people think of it."""

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from index import files
from index.errors import SticklerError
from qa.answer import Answer
from qa.models import BOOK, NONE

LONGEST = 30  # turns that are kept of a conversation
LONGEST_COMMENT = 2000  # characters
_FULL = 20_000_000  # bytes of feedback: beyond that someone should have a look first


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and what became of it."""

    question: str
    answer: Answer | None = None
    draft: str = ""  # what the model has said so far
    waiting: str = ""  # why there is nothing yet
    failure: str = ""
    stopped: bool = False
    vote: str = ""  # 'up', 'down' or nothing

    @property
    def running(self) -> bool:
        return bool(self.waiting)


def before(turns: Sequence[Turn]) -> list[str]:
    """The questions so far, as they were understood."""
    return [t.answer.standalone_question or t.question for t in turns if t.answer is not None]


def model_name(name: str) -> str:
    names = {BOOK: "looked up in the book", NONE: "no language model"}
    return names.get(name, f"model {name}")


def plain(answer: Answer) -> str:
    """An answer with its citations as text, to be pasted anywhere."""
    cited = [citation for citation in answer.citations if citation.quote]
    lines = [answer.question, ""]
    if answer.verdict:
        lines += [answer.verdict.capitalize(), ""]
    if answer.abstained or not cited:
        lines += [answer.text, ""]
    elif answer.said:
        lines += [answer.said, ""]
    for citation in cited:
        head = f"{citation.number} {citation.heading}".strip()
        lines.append(f"{head} [{citation.edition}]: {citation.text}")
    sure = "" if answer.model == BOOK else f", confidence {answer.confidence:.2f}"
    return "\n".join([*lines, "", f"Edition {answer.edition}, {model_name(answer.model)}{sure}"])


def as_markdown(turns: Sequence[Turn]) -> str:
    """The conversation to read: every rule whole, the decisive sentence in bold."""
    parts = ["# Stickler"]
    for answer in (turn.answer for turn in turns if turn.answer is not None):
        parts.append(f"## {_plain_line(answer.question)}")
        if answer.standalone_question:
            parts.append(f"*Understood as: {_plain_line(answer.standalone_question)}*")
        cited = [citation for citation in answer.citations if citation.quote]
        if answer.verdict:
            parts.append(f"**{answer.verdict.capitalize()}**")
        if answer.abstained or not cited:
            parts.append(_plain_line(answer.text))
        elif answer.said:
            parts.append(_plain_line(answer.said))
        for citation in cited:
            text = _plain_line(citation.text)
            quote = _plain_line(citation.quote)
            marked = text if quote == text else text.replace(quote, f"**{quote}**", 1)
            head = f"{citation.number} {citation.heading}".strip()
            parts.append(f"**{head}** ({citation.edition})\n> {marked}")
        sure = "" if answer.model == BOOK else f", confidence {answer.confidence:.2f}"
        parts.append(f"*Edition {answer.edition}, {model_name(answer.model)}{sure}*")
    return "\n\n".join(parts) + "\n"


def _plain_line(text: str) -> str:
    """One line in which nothing is Markdown or HTML."""
    marks = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#|"})
    return " ".join(text.split()).translate(marks)


def as_json(turns: Sequence[Turn]) -> str:
    rows = [turn.answer.to_json() for turn in turns if turn.answer is not None]
    return json.dumps(rows, ensure_ascii=False, indent=1)


def feedback(answer: Answer, vote: str, comment: str) -> dict[str, Any]:
    """A vote as a line that the evaluation can read."""
    cited = [citation.number for citation in answer.citations if citation.quote]
    return {
        "id": answer.id,
        "question": answer.standalone_question or answer.question,
        "gold_rules": cited if vote == "up" else [],
        "verdict": answer.verdict,
        "answer": answer.text,
        "kind": "feedback",
        "vote": vote,
        "comment": comment[:LONGEST_COMMENT],
        "edition": answer.edition,
        "model": answer.model,
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def keep_feedback(answer: Answer, vote: str, comment: str) -> None:
    """Add a vote to the data folder's feedback.jsonl."""
    if vote not in ("up", "down"):
        raise SticklerError(f"'{vote[:20]}' is no vote: say 'up' or 'down'.")
    path = files.home() / "feedback.jsonl"
    line = json.dumps(feedback(answer, vote, comment), ensure_ascii=False)
    with files.locked(path.with_suffix(".lock")), files.explained(path):
        if path.exists() and path.stat().st_size > _FULL:
            raise SticklerError("The feedback file is full: move feedback.jsonl elsewhere first.")
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def answer_at(turns: Sequence[Turn], place: int) -> Answer:
    answer = turns[place].answer if 0 <= place < len(turns) else None
    if answer is None:
        raise SticklerError("There is no such answer any more: ask again.")
    return answer


def voted(turns: Sequence[Turn], place: int, vote: str, comment: str) -> list[Turn]:
    """The conversation with a vote on one of its answers, which is kept first."""
    keep_feedback(answer_at(turns, place), vote, comment)
    return [replace(t, vote=vote) if at == place else t for at, t in enumerate(turns)]
