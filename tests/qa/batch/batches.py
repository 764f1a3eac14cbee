"""What the tests of batches share: a stand-in for the assistant, and an output read back."""

import json

from index.errors import SticklerError
from qa.answer import Answer
from qa.settings import Settings


class FakeAssistant:
    """Stands in for an assistant where only the way of the rows matters; it notes what it hears."""

    settings = Settings(model="none")

    def __init__(self, fails=(), stop_after=None):
        self.fails, self.stop_after = fails, stop_after
        self.calls = []

    def ask_many(self, questions, ids=(), masked=()):
        if self.stop_after is not None and len(self.calls) >= self.stop_after:
            raise KeyboardInterrupt
        if bad := [q for q in questions if any(f in q for f in self.fails)]:
            raise SticklerError(f"'{bad[0]}' cannot be answered.")
        self.calls.append(list(questions))
        return [
            Answer(q, "current", "0", id="other", text=f"To {q}", abstained="who" in q)
            for q in questions
        ]

    @property
    def heard(self):
        return [question for call in self.calls for question in call]


def rows_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
