"""Whether a rule backs what a model says.

Every sentence of a model is set against the rules that the model was shown. What a rule supports
may be shown with that rule; what none supports is counted and not shown.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from index.bm25 import stems
from index.rulebook import Rule
from qa import citations

if TYPE_CHECKING:
    from index.embedder import Embedder

_NO = re.compile(r"\b(?:no|not|never|neither|nor|cannot|without|n[o']t)\b|n['’]t\b", re.IGNORECASE)
_COVERED = 0.75  # share of a sentence's words that the rule or the question must have
_SIMILAR = 0.55  # cosine of the sentence and a sentence of the rule, at least


def supported(
    raw: str, asked: str, rules: Sequence[Rule], embedder: "Embedder"
) -> tuple[list[tuple[str, Rule]], int]:
    """The model's sentences that one of these rules supports, and how many none supports."""
    said = whole_sentences(raw)
    by = [attribute(one, asked, rules, embedder) for one in said]
    kept = [(one, rule) for one, rule in zip(said, by, strict=True) if rule is not None]
    return kept, len(said) - len(kept)


def whole_sentences(raw: str) -> list[str]:
    """A model's sentences, at most three, without one that broke off at the limit."""
    plain = " ".join(raw.split())
    found = [s for s in citations.sentences(plain) if s[-1:] in ".!?”\"'"]
    return list(dict.fromkeys(found))[:3]


def attribute(
    sentence: str, question: str, rules: Sequence[Rule], embedder: "Embedder"
) -> Rule | None:
    """The rule that supports a sentence of the model: its words, its meaning, and its yes or no."""
    words = set(stems(sentence))
    if not words:
        return None
    asked = set(stems(question))
    near = [
        (rule, part)
        for rule in rules
        for part in citations.quotable_sentences(rule)
        if len(words & (asked | set(stems(f"{rule.heading} {rule.text}")))) >= _COVERED * len(words)
        and _denies(part) == _denies(sentence)
    ]
    if not near:
        return None
    vectors = embedder.encode_questions([sentence, *(part for _, part in near)])
    scores = (vectors[1:] @ vectors[0]).tolist()
    best = max(scores)
    return near[scores.index(best)][0] if best >= _SIMILAR else None


def _denies(text: str) -> bool:
    return len(_NO.findall(text)) % 2 == 1
