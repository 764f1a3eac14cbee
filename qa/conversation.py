"""Follow-up questions keep their subject: 'and if it also has deathtouch?'."""

import re
from collections.abc import Sequence

from index.searcher import LONGEST_QUESTION

_LEANS_BACK = re.compile(
    r"^\W*(?:and|but|or|so|then|also|what if|what about|how about|why|even if|does that|is that|"
    r"and if|in that case|same)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|it's|they|them|their|that|this|those|these|he|she|him|her|one|ones|too|either|"
    r"instead)\b",
    re.IGNORECASE,
)
_SHORT = 12  # words


def standalone(question: str, before: Sequence[str]) -> str | None:
    """A follow-up with the previous question in front; None if it is self-contained.

    `before` are the earlier questions of the conversation as they were understood, oldest first.
    """
    if not before:
        return None
    short = len(question.split()) <= _SHORT
    if not (_LEANS_BACK.search(question) or (short and _POINTS_BACK.search(question))):
        return None
    subject = before[-1]
    return f"{subject.strip()} {question.strip()}"[-LONGEST_QUESTION:]
