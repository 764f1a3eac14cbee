"""Rules that look as if they decided a question, and do not."""

import random
from collections.abc import Sequence

from eval.training.data import Data
from index.embedder import Embedder
from index.errors import SticklerError

_KEPT = 16  # of a question


def misses(data: Data, embedder: Embedder) -> list[list[str]]:
    """For each question the rules that are nearest and do not decide it, the nearest first."""
    numbers = list(data.rules)
    rules = embedder.encode_passages([data.rules[number].embedded for number in numbers])
    asked = embedder.encode_questions([question.text for question in data.questions])
    found = []
    for question, scores in zip(data.questions, asked @ rules.T, strict=True):
        nearest = [numbers[at] for at in (-scores).argsort()[: _KEPT + len(question.rules)]]
        found.append([number for number in nearest if number not in question.rules][:_KEPT])
    if not all(found):
        raise SticklerError(
            "There are too few rules to tell apart: tune on more questions (a higher '--limit')."
        )
    return found


def drawn(near: Sequence[str], count: int, chance: random.Random) -> list[str]:
    """So many of them, each once if there are enough, the nearest most often."""
    if len(near) < count:  # of a handful of rules, in a trial
        return chance.choices(near, k=count)
    found: dict[str, None] = {}
    weights = [1 / (2 + place) for place in range(len(near))]
    while len(found) < count:
        found[chance.choices(near, weights)[0]] = None
    return list(found)
