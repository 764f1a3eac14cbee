"""Figures from results, each with the interval that its number of items allows."""

from collections.abc import Sequence
from typing import NamedTuple


class Figure(NamedTuple):
    """A mean over items and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float
    items: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def mean(values: Sequence[float], rounds: int = 2000, seed: int = 1) -> Figure:
    """The mean of values with its interval; the same values give the same interval."""
    import numpy as np

    if not values:
        raise ValueError("There is nothing to take the mean of.")
    array = np.asarray(values, dtype=float)
    picks = np.random.default_rng(seed).integers(0, len(array), (rounds, len(array)))
    low, high = np.percentile(array[picks].mean(axis=1), [2.5, 97.5])
    return Figure(float(array.mean()), float(low), float(high), len(array))


def hit(found: Sequence[str], gold: Sequence[str], k: int) -> float:
    """1 where a gold rule is among the first k found."""
    return float(any(number in gold for number in found[:k]))
