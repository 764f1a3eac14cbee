"""Rules in two versions, under which the same questions have other answers.

What is learned from a question under both texts is learned from the rule: how the question is put
says nothing. There are three sorts: written questions about rules that were written once more with
a decisive point changed, schemas whose blanks are filled anew each time, and claims made by code.
"""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from eval import items
from eval.tuning.claims import Told, claims
from eval.tuning.data import Data, Question
from index.rerank import as_read

Family = list[Told]  # one rule, in one version or two

_TOGETHER = 8  # questions of one text
_FILLED = 0.07  # schemas filled in an epoch, for each written question
_CLAIMED = 0.08  # claims in an epoch, likewise
_FIRST = 0.03  # claims that come before all else, likewise
_BLANK = re.compile(r"\{(\w+)\}")


class Contrasts:
    def __init__(self, data: Data) -> None:
        self._schemas = items.schemas()
        self._names = sorted({rule["heading"] for rule in items.invented(more=True)})
        self._rules = data.rules
        self._asked: dict[str, list[Question]] = {}
        for question in data.questions:
            if question.verdict:
                self._asked.setdefault(question.rules[0], []).append(question)
        self._turned = {row["number"]: row for row in items.turned()}

    def first(self, chance: random.Random) -> list[Family]:
        """What is read before all else: claims."""
        return self._claimed(_FIRST, chance)

    def all(self, chance: random.Random) -> list[Family]:
        """What is read in an epoch, in an order of chance."""
        found = [family for number in self._asked for family in self._written(number, chance)]
        schemas = chance.choices(self._schemas, k=self._count(_FILLED))
        found += [self._filled(schema, chance) for schema in schemas]
        found += self._claimed(_CLAIMED, chance)
        chance.shuffle(found)
        return found

    def _count(self, share: float) -> int:
        return round(share * sum(map(len, self._asked.values())))

    def _claimed(self, share: float, chance: random.Random) -> list[Family]:
        """Claims about any of the rules."""
        texts = [self._rules[number].shown for number in self._asked]
        made = (claims(chance.choice(texts), chance) for _ in range(self._count(share)))
        return [family for family in made if family]

    def _written(self, number: str, chance: random.Random) -> list[Family]:
        asked = chance.sample(self._asked[number], len(self._asked[number]))
        text = self._rules[number]
        row = self._turned.get(number)
        families = []
        for start in range(0, len(asked), _TOGETHER):
            part = asked[start : start + _TOGETHER]
            family = [Told(text.shown, tuple((q.text, q.verdict == "yes") for q in part))]
            if row is not None and (turned := _turned(part, row)):
                heading = text.shown.removesuffix(text.text).removesuffix(": ")
                family.append(Told(as_read(heading, row["text"]), turned))
            families.append(family)
        return families

    def _filled(self, schema: Mapping[str, Any], chance: random.Random) -> Family:
        """A schema with its blanks filled, in two of its versions and one way of putting each."""
        name = chance.choice(self._names)
        blanks = {slot: chance.choice(values) for slot, values in schema["slots"].items()}
        blanks |= {"name": name.lower(), "Name": name, "NAME": name.upper()}

        def fill(text: str) -> str:
            return _BLANK.sub(lambda blank: blanks.get(blank[1], blank[0]), text)

        asks = chance.sample(schema["asks"], min(_TOGETHER, len(schema["asks"])))
        questions = [fill(chance.choice(ask["q"])) for ask in asks]
        versions = chance.sample(sorted(schema["texts"]), 2)
        way = chance.randrange(min(len(schema["texts"][version]) for version in versions))
        return [
            Told(
                as_read(name, fill(schema["texts"][version][way])),
                tuple(
                    (question, ask[version] == "yes")
                    for question, ask in zip(questions, asks, strict=True)
                ),
            )
            for version in versions
        ]


def _turned(part: Sequence[Question], row: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
    """What is known of these questions under the turned rule."""
    return tuple(
        (question.text, (question.verdict == "yes") == (question.id in row["same"]))
        for question in part
        if question.id in row["same"] or question.id in row["flipped"]
    )
