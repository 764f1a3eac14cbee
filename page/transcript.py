"""A conversation's data: its turns, exports of it, and votes on its answers."""

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from index import files
from index.errors import SticklerError
from index.rulebook import marked
from qa.answer import Answer
from qa.citations import Citation
from qa.compose import SIMILAR, branches, reading, similar_lines
from qa.markdown import escape_line
from qa.models import BOOK, NONE

MAX_TURNS = 30  # of a conversation; older ones are dropped
MAX_COMMENT = 2000  # characters
_MAX_FEEDBACK = 20_000_000  # bytes: beyond that someone should have a look first


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and what became of it."""

    question: str
    answer: Answer | None = None
    draft: str = ""  # what the model has written so far
    waiting: str = ""  # why there is nothing yet
    failure: str = ""
    stopped: bool = False
    vote: str = ""  # 'up', 'down' or nothing
    changed: tuple[str, ...] = ()  # rules that the link to it cited and that read differently now

    @property
    def running(self) -> bool:
        return bool(self.waiting)


def earlier_questions(turns: Sequence[Turn]) -> list[str]:
    """The questions so far, as they were understood."""
    return [t.answer.standalone_question or t.question for t in turns if t.answer is not None]


def questions_to_resume(asked: Any) -> list[tuple[str, str]]:
    """The questions of a conversation that a browser kept, each with its edition, if it has one.

    SticklerError for what is no such list.
    """
    try:
        return [(str(each["question"]), str(each["edition"])) for each in asked[-MAX_TURNS:]]
    except (TypeError, KeyError):
        raise SticklerError("This conversation cannot be resumed: start a new one.") from None


def describe_model(name: str) -> str:
    """What answered, for people."""
    names = {BOOK: "looked up in the book", NONE: "no language model"}
    return names.get(name, f"model {name}")


def as_text(answer: Answer) -> str:
    """An answer with its citations as plain text, to be pasted anywhere."""
    lines = [answer.question, ""]
    if not answer.cited:
        lines += [answer.text, ""]
    for citation in answer.cited:
        text = marked(citation.text, citation.truncated)
        lines.append(f"{_title(citation)} [{citation.edition}]: {text}")
    for part in (branches(answer.open_condition), _reading(answer)):
        lines += ["", part] if part else []
    if answer.similar_questions:
        lines += ["", f"{SIMILAR}:", *similar_lines(answer.similar_questions)]
    return "\n".join([*lines, "", _provenance(answer)])


def as_markdown(turns: Sequence[Turn]) -> str:
    """The conversation to read: every rule whole, the decisive sentence in bold."""
    parts = ["# Stickler"]
    for answer in (turn.answer for turn in turns if turn.answer is not None):
        parts.append(f"## {escape_line(answer.question)}")
        if answer.standalone_question:
            parts.append(f"*Understood as: {escape_line(answer.standalone_question)}*")
        if not answer.cited:
            parts.append(escape_line(answer.text))
        for citation in answer.cited:
            text = escape_line(marked(citation.text, citation.truncated))
            quote = escape_line(citation.quote)
            bold = text if quote == text else text.replace(quote, f"**{quote}**", 1)
            parts.append(f"**{_title(citation)}** ({citation.edition})\n> {bold}")
        for line in branches(answer.open_condition).splitlines():
            parts.append(escape_line(line))
        if reading := _reading(answer):
            parts.append(escape_line(reading))
        if answer.similar_questions:
            rows = "\n".join(
                f"- {escape_line(line)}" for line in similar_lines(answer.similar_questions)
            )
            parts.append(f"{SIMILAR}:\n\n{rows}")
        parts.append(f"*{_provenance(answer)}*")
    return "\n\n".join(parts) + "\n"


def _reading(answer: Answer) -> str:
    """What the model makes of the rules, marked as its own."""
    words = reading(answer.verdict, answer.generated, answer.unsure)
    return f"As {answer.model} reads it: {words}" if words else ""


def _title(citation: Citation) -> str:
    return f"{citation.number} {citation.heading}".strip()


def _provenance(answer: Answer) -> str:
    """Edition, model and confidence of an answer."""
    sure = "" if answer.model == BOOK else f", confidence {answer.confidence:.2f}"
    return f"Edition {answer.edition}, {describe_model(answer.model)}{sure}"


def as_json(turns: Sequence[Turn]) -> str:
    """The conversation's answers as a JSON list."""
    rows = [turn.answer.to_json() for turn in turns if turn.answer is not None]
    return json.dumps(rows, ensure_ascii=False, indent=1)


def feedback_record(answer: Answer, vote: str, comment: str) -> dict[str, Any]:
    """A vote as a record that the evaluation can read."""
    cited = [citation.number for citation in answer.cited]
    return {
        "id": answer.id,
        "question": answer.standalone_question or answer.question,
        "gold_rules": cited if vote == "up" else [],
        "verdict": answer.verdict,
        "answer": answer.text,
        "kind": "feedback",
        "vote": vote,
        "comment": comment[:MAX_COMMENT],
        "edition": answer.edition,
        "model": answer.model,
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def save_feedback(answer: Answer, vote: str, comment: str) -> None:
    """Add a vote to the data folder's feedback.jsonl."""
    if vote not in ("up", "down"):
        raise SticklerError(f"'{vote[:20]}' is not a vote: use 'up' or 'down'.")
    path = files.data_folder() / "feedback.jsonl"
    line = json.dumps(feedback_record(answer, vote, comment), ensure_ascii=False)
    with files.locked(path.with_suffix(".lock")), files.explained(path):
        if path.exists() and path.stat().st_size > _MAX_FEEDBACK:
            raise SticklerError("The feedback file is full: move feedback.jsonl elsewhere first.")
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def answer_at(turns: Sequence[Turn], place: int) -> Answer:
    """The answer of a turn; SticklerError where there is none."""
    answer = turns[place].answer if 0 <= place < len(turns) else None
    if answer is None:
        raise SticklerError("That answer no longer exists: ask again.")
    return answer


def vote(turns: Sequence[Turn], place: int, choice: str, comment: str) -> list[Turn]:
    """The conversation with a vote, 'up' or 'down', on one of its answers; it is saved first."""
    save_feedback(answer_at(turns, place), choice, comment)
    return [replace(t, vote=choice) if at == place else t for at, t in enumerate(turns)]
