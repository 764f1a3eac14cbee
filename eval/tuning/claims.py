"""Easy questions about a rule, made by code, under its text and under the same text turned.

A reader that has never compared a question with a rule learns that first, from sentences of the
rule put as a claim or as a question, where one word makes the difference: "Can it be blocked?",
when the rule says that it can, and when it says that it can't.
"""

import random
import re
from typing import NamedTuple

# What may stand for another word; from the first to any of the others.
_TURNS = """
can can’t | can’t can | may can’t | is isn’t | isn’t is | are aren’t | aren’t are | doesn’t does
does doesn’t | don’t do | will won’t | won’t will | must needn’t | has lacks | have lack
before after | after before | first last | beginning end | once twice | unless if
controller owner | owner controller | opponent teammate | active nonactive | each one | any one
tapped untapped | untapped tapped | untap tap | attacking blocking | blocking attacking
attacks blocks | blocks attacks | graveyard exile | hand library | library hand | top bottom
bottom top | enters leaves | leaves enters | gains loses | loses gains | draws discards
one two | two three | three two | 1 2 | 2 3 | 3 4 | more fewer | fewer more | greater less
less greater | permanent spell | creature land | creatures lands | spell ability | token nontoken
"""
TURNS = dict(pair.split() for line in _TURNS.strip().splitlines() for pair in line.split(" | "))
_AS_CLAIM = (
    "Is it true that {}?",
    "{}, right?",
    "My friend says {}. Is that so?",
    "So {}?",
    "Am I right that {}?",
    "Is it correct to say {}?",
)
_AFFIRMED = {"can’t": "can", "isn’t": "is", "aren’t": "are", "won’t": "will", "doesn’t": "does"}
_DENIED = {"can": "can’t", "may": "can’t", "is": "isn’t", "are": "aren’t", "will": "won’t"}
_OPENS = re.compile(
    r"((?:If|When|Whenever|While|As|After|Before|During|At|Until|Unless)\b[^,]*), (.*)"
)
_SUBORDINATE = {
    "who",
    "that",
    "which",
    "if",
    "when",
    "while",
    "as",
    "because",
    "unless",
    "and",
    "or",
}
_FURTHEST = 9  # words before the verb: more are no plain sentence
_DROPPED = 0.1  # share of words left out, so that it is not the rule word for word
_LENGTHS = range(5, 33)  # words of a sentence


class Told(NamedTuple):
    """A text, and what is asked of it: each question with whether the answer is yes."""

    text: str
    asked: tuple[tuple[str, bool], ...]


def claims(text: str, chance: random.Random) -> list[Told]:
    """The text and the text with one sentence turned, under the same questions; or nothing."""
    heading, _, body = text.partition(": ")
    sentences = re.split(r"(?<=[.”]) +", body.replace("'", "’"))
    sentences = [each for each in sentences if len(each.split()) in _LENGTHS]
    chance.shuffle(sentences)
    ways = [_inverted, _claimed] if chance.random() < 0.6 else [_claimed]
    for way in ways:
        for sentence in sentences:
            if (made := way(sentence, chance)) is not None:
                turned, asked = made
                opposite = tuple((question, not yes) for question, yes in asked)
                other = body.replace("'", "’").replace(sentence, turned)
                return [Told(text, asked), Told(f"{heading}: {other}", opposite)]
    return []


_Made = tuple[str, tuple[tuple[str, bool], ...]]


def _claimed(sentence: str, chance: random.Random) -> _Made | None:
    """A sentence with a word turned, and claims that say the one or the other."""
    words = sentence.split()
    places = [at for at, word in enumerate(words) if _bare(word) in TURNS]
    if not places:
        return None
    at = chance.choice(places)
    words[at] = words[at].lower().replace(_bare(words[at]), TURNS[_bare(words[at])], 1)
    turned = " ".join(words)
    asked: dict[str, bool] = {}
    for _ in range(2):
        says = chance.choice((sentence, turned))
        claim = _loosely(says.rstrip(".”"), chance)
        asked[chance.choice(_AS_CLAIM).format(claim[:1].lower() + claim[1:])] = says == sentence
    return turned, tuple(asked.items())


def _inverted(sentence: str, chance: random.Random) -> _Made | None:
    """A plain sentence turned at its verb, and the question that it answers."""
    opening, main = "", sentence.rstrip(".")
    if "“" in main:
        return None
    if match := _OPENS.match(main):
        opening, main = match.groups()
    words = main.split()
    at = next((n for n, word in enumerate(words) if word in _AFFIRMED | _DENIED), 0)
    if not 1 <= at <= _FURTHEST or _SUBORDINATE & {_bare(word) for word in words[:at]}:
        return None
    yes = words[at] in _DENIED
    verb = words[at] if yes else _AFFIRMED[words[at]]
    turned = " ".join([*words[:at], _DENIED[verb] if yes else verb, *words[at + 1 :]])
    subject = " ".join(words[:at])
    question = f"{verb} {subject[:1].lower() + subject[1:]} {' '.join(words[at + 1 :])}"
    if opening and chance.random() < 0.5:
        question = f"{opening}, {question}"
    elif opening:
        question = f"{question} {opening[:1].lower() + opening[1:]}"
    question = _loosely(question[:1].upper() + question[1:], chance)
    return sentence.replace(main, turned), ((f"{question}?", yes),)


def _loosely(sentence: str, chance: random.Random) -> str:
    """Some words left out, none that make the difference."""
    words = sentence.split()
    kept = [word for word in words if chance.random() > _DROPPED or _bare(word) in TURNS]
    return " ".join(kept)


def _bare(word: str) -> str:
    return word.strip(".,;:()“”").lower()
