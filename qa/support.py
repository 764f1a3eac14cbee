"""Whether a rule supports what a model writes.

Every sentence is compared with the rules that the model was shown, and with the answers to those
rules' expansion questions. A supported sentence may be shown with its rule; an unsupported one is
counted but not shown.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from index import numbers
from index.bm25 import stems
from index.expansion import AnsweredQuestion
from index.rulebook import Rule
from qa import citations, verdict
from qa.models.grammar import MAX_SENTENCES

if TYPE_CHECKING:
    from index.embedder import Embedder

_NO = re.compile(r"\b(?:no|not|never|neither|nor|cannot|without|n[o']t)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = rf"[\[(](?P<number>{numbers.RULE})[\])]"
_CITATION = re.compile(rf"\s*{_NUMBER}$")  # at the end of a sentence
_STRAY = re.compile(rf"(?P<end>[.!?])\s+(?P<citation>{_NUMBER})\.?")  # after the full stop
_MIN_SHARED_WORDS = 0.75  # share of a sentence's words that the rule or the question must have
_MIN_SIMILARITY = 0.55  # cosine of the sentence and a sentence of the rule, at least
# The same for an answer about the rule: a sentence that only resembles it may contradict it.
_MIN_REPEATED = 0.85
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TEENS = "fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
_IN_WORDS = {
    **{word: str(at) for at, word in enumerate(f"{_SMALL} {_TEENS}".split()) if word != "one"},
    **{word: str(10 * at) for at, word in enumerate(_TENS.split(), 2)},
    **{"half": "1/2", "twice": "x2", "double": "x2"},
}


class Sentence(NamedTuple):
    """A sentence of the model, and the rule that it cites."""

    text: str  # without its citation and full stop
    number: str


def supported(
    raw: str,
    asked: str,
    rules: Sequence[Rule],
    similar: Sequence[AnsweredQuestion],
    embedder: "Embedder",
) -> tuple[list[Sentence], int]:
    """The model's sentences that one of these rules supports, and how many none supports.

    A sentence that cites a rule is compared with that rule; one that cites none, which is possible
    if decoding is not constrained, with all of them.
    """
    kept: list[Sentence] = []
    found = split_sentences(raw)
    by_number = {rule.number: rule for rule in rules}
    for text, number in found:
        against = [by_number[number]] if number in by_number else rules
        rule = supporting_rule(f"{text}.", asked, against, similar, embedder)
        if rule is not None:
            kept.append(Sentence(text, rule.number))
    return kept, len(found) - len(kept)


def split_sentences(raw: str) -> list[tuple[str, str | None]]:
    """A model's sentences, at most three, each with the number it ends in, if any.

    A sentence cut off at the token limit is left out.
    """
    found: dict[tuple[str, str | None], None] = {}
    plain = _STRAY.sub(r" \g<citation>\g<end>", " ".join(raw.split()))
    for sentence in citations.sentences(plain):
        if sentence[-1:] not in ".!?”\"'])":
            continue
        text = sentence.rstrip(".!?")
        cited = _CITATION.search(text)
        own = text[: cited.start()] if cited else text
        if own.strip():
            found[own.strip(), cited["number"] if cited else None] = None
    return list(found)[:MAX_SENTENCES]


def supporting_rule(
    sentence: str,
    question: str,
    rules: Sequence[Rule],
    similar: Sequence[AnsweredQuestion],
    embedder: "Embedder",
) -> Rule | None:
    """The rule that supports a sentence of the model in wording, meaning and polarity."""
    words = set(stems(sentence))
    if not words:
        return None
    asked = set(stems(question))
    # A repeated answer may contain numbers from another situation.
    figures = _figures(sentence) - _figures(question)
    near: list[tuple[Rule, str, float]] = []
    for rule in rules:
        known = asked | set(stems(f"{rule.heading} {rule.text}"))
        if len(words & known) >= _MIN_SHARED_WORDS * len(words):
            near += [(rule, part, _MIN_SIMILARITY) for part in citations.quotable_sentences(rule)]
        for each in similar:
            said = verdict.split(each.answer)[1]
            repeated = words <= asked | set(stems(said)) and not figures - _figures(rule.text)
            if each.number == rule.number and repeated:
                near.append((rule, said, _MIN_REPEATED))
    near = [each for each in near if _denies(each[1]) == _denies(sentence)]
    if not near:
        return None
    vectors = embedder.encode_questions([sentence, *(part for _, part, _ in near)])
    scores = (vectors[1:] @ vectors[0]).tolist()
    enough = [
        (score, -at)  # the first of equally similar ones
        for at, (score, (_, _, least)) in enumerate(zip(scores, near, strict=True))
        if score >= least
    ]
    return near[-max(enough)[1]][0] if enough else None


def _figures(text: str) -> set[str]:
    """The numbers in a text, as digits or words, except 'one', which is rarely a number."""
    words = re.findall(r"\d+|[a-z]+", text.lower())
    return {word for word in words if word.isdigit()} | {
        _IN_WORDS[word] for word in words if word in _IN_WORDS
    }


def _denies(text: str) -> bool:
    return len(_NO.findall(text)) % 2 == 1
