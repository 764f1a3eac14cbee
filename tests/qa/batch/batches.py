"""What the tests of batches share: a fake assistant and its engine, an output read back."""

import json

from index.errors import SticklerError
from qa.answer import Answer
from qa.batch.engines import LocalEngine
from qa.settings import Settings


class FakeAssistant:
    """Answers without any rules: for tests of what becomes of the rows. It records what it gets."""

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


class FakeEngine(LocalEngine):
    """Answers in this process with an assistant that has nothing loaded."""

    def __init__(self, assistant, chunk, settings="1"):
        super().__init__(assistant)
        self.chunk, self._settings = chunk, settings

    def made_with(self):
        return {"settings": self._settings}


def rows_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
