"""Players' slang translated into the rulebook's words, and headings that a question names."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from index import files
from index.bm25 import stems
from index.errors import SticklerError

_FORMATS = re.compile(
    r"\b(?:"
    r"multiplayer|teams?|teammates?|two-headed|2hg|giant|commanders?|edh|planechase|planes?|archenemy"
    r"|schemes?|vanguards?|draft\w*|conspirac\w+|emperor|brawl|oathbreaker|free-for-all|melee"
    r"|range of influence|pod|players|\w+[ -]player (?:game|pod|table))\b",
    re.IGNORECASE,
)
_ENDINGS = r"(?:s|es|ed|d|ing|er|ers)?(?:['’]s)?"


class Vocabulary:
    """Slang into the rulebook's words: 'he sacs a trampler' -> 'he sacrifice a trample'."""

    def __init__(self, headings: Iterable[str]) -> None:
        talk = {form: h.lower() for h in headings for form in _bearers(h.lower())}
        talk |= _talk(Path(__file__).with_name("vocabulary.toml"))
        if (own := files.data_folder() / "vocabulary.toml").exists():
            talk |= _talk(own)
        words = sorted(talk, key=len, reverse=True)  # 'board wipe' goes before 'board'
        self._meanings = [talk[word] for word in words]
        by_letter: dict[str, list[str]] = {}  # so that not every word is tried at every position
        for at, word in enumerate(words):
            by_letter.setdefault(word[:1], []).append(f"(?P<w{at}>{_forms(word)})")
        alternatives = "|".join(
            f"(?={re.escape(letter)})(?:{'|'.join(forms)})" for letter, forms in by_letter.items()
        )
        self._pattern = re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE)

    def translate(self, question: str) -> str:
        return self._pattern.sub(self._meaning, question)

    def _meaning(self, match: re.Match[str]) -> str:
        assert match.lastgroup is not None
        return self._meanings[int(match.lastgroup[1:])]


class Headings:
    """Finds the headings of a book that a question names."""

    def __init__(self, headings: Iterable[str]) -> None:
        self._stems = {heading: f" {' '.join(stems(heading))} " for heading in headings}

    def named(self, question_stems: Sequence[str]) -> set[str]:
        question = f" {' '.join(question_stems)} "
        return {heading for heading, words in self._stems.items() if words in question}


def names_format(question: str) -> bool:
    """Whether a question mentions a multiplayer game or a casual variant, such as Commander."""
    return _FORMATS.search(question) is not None


def _bearers(heading: str) -> list[str]:
    """What a thing with a keyword is called: trample -> trampler, first strike -> first-striker."""
    *before, last = heading.split()
    end = last.removesuffix("ing") if last.endswith("ing") else last.removesuffix("e")
    return [joint.join([*before, f"{end}er"]) for joint in ((" ", "-") if before else (" ",))]


def _forms(word: str) -> str:
    """A pattern for a word and its endings: chump, chumps, chumped, swapping, trampling."""
    stem = re.escape(word)
    if len(word) < 3:
        return stem + r"s?"
    if word.endswith("e"):
        stem = f"{re.escape(word[:-1])}e?"
    elif re.search(r"[^aeiou][aeiou][bcdgmnprt]$", word):
        stem = f"{stem}{word[-1]}?"
    return stem + _ENDINGS


def _talk(path: Path) -> dict[str, str]:
    try:
        talk = tomllib.loads(path.read_text(encoding="utf-8"))["talk"]
        return {str(word).lower(): str(meaning) for word, meaning in talk.items()}
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise SticklerError(
            f'{path} cannot be used ({error}): it needs lines such as swing = "attack" '
            "below a line [talk]."
        ) from None
