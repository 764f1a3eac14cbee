"""Shared by the parsers: error messages, the order of numbers, dates."""

import datetime
from collections.abc import Iterable

from index import numbers
from index.errors import Action, Remedy, SticklerError

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def damaged(document: str, what: str) -> SticklerError:
    return SticklerError(f"{document} is damaged ({what}): download it again.")


def undated(document: str) -> SticklerError:
    return SticklerError(
        f"{document} does not say when its rules took effect", Remedy(Action.NAME_EDITION)
    )


def iso_date(year: str, month: str, day: str, document: str) -> str:
    """('2009', '10' or 'October', '1') -> '2009-10-01'."""
    try:
        at = int(month) if month.isdecimal() else MONTHS.index(month) + 1
        return datetime.date(int(year), at, int(day)).isoformat()
    except ValueError:
        raise damaged(document, f"'{month} {day}, {year}' is not a date") from None


def check_order(found: Iterable[str], document: str) -> list[str]:
    """Raise an error if numbers do not ascend; return notices about gaps."""
    notices, previous = [], None
    for number in found:
        if previous is not None and not numbers.follows(number, previous):
            if numbers.parse(number) <= numbers.parse(previous):
                raise damaged(document, f"rule {number} comes after rule {previous}")
            notices.append(f"There is a gap between rules {previous} and {number}.")
        previous = number
    return notices
