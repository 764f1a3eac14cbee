"""Asks the service a question and yields the conversation as its last turn grows."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from index.errors import SticklerError
from page.remedies import phrase
from page.service import Service, Waiting
from page.transcript import MAX_TURNS, Turn, earlier_questions
from qa.answer import Answer
from qa.settings import Settings

_PAUSE = 0.05  # seconds between two looks at a draft: more often nobody can read


def ask_stream(
    service: Service,
    question: str,
    turns: Sequence[Turn],
    settings: Settings,
    session: str,
    changed: Sequence[str] = (),
) -> Iterator[list[Turn]]:
    """Yield the conversation repeatedly, with the new turn in its current state.

    `changed` are the rules cited in a link whose wording has changed since.
    """
    kept = list(turns[-(MAX_TURNS - 1) :])
    turn = Turn(question, waiting="Searching the rules …", changed=tuple(changed))
    yield [*kept, turn]
    shown = time.monotonic()
    try:
        with (
            service.stop_event(session) as stop,
            closing(service.ask(question, earlier_questions(kept), settings, stop)) as stream,
        ):
            for part in stream:
                if isinstance(part, Waiting):
                    turn = replace(turn, waiting=part.message)
                elif isinstance(part, Answer):
                    turn = replace(turn, answer=part, waiting=_describe_work(service, part))
                else:
                    turn = replace(turn, draft=turn.draft + part)
                    if time.monotonic() - shown < _PAUSE:
                        continue
                yield [*kept, turn]
                shown = time.monotonic()
            turn = replace(turn, stopped=stop.is_set())
            if turn.draft and turn.answer and not turn.stopped:
                service.answer_seconds.append(turn.answer.timings["total_ms"] / 1000)
    except SticklerError as error:
        turn = replace(turn, failure=error.sentence(phrase))
    if turn.answer is None and not turn.failure:
        turn = replace(turn, failure="Stopped before there was an answer.")
    yield [*kept, replace(turn, waiting="")]


def _describe_work(service: Service, answer: Answer) -> str:
    """What the model is doing, and how long its answers have taken lately."""
    work = f"The model is {'writing' if answer.verdict else 'reading the rules'} …"
    if not service.answer_seconds:
        return work
    usual = max(1, round(statistics.median(service.answer_seconds)))
    return f"{work} An answer usually takes {usual} second{'s' if usual > 1 else ''}."
