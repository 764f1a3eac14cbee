"""The words of rules and of players: stemming, table talk put into the rules' words, BM25."""

import functools
import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import files
from index.errors import SticklerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+(?:/\w+)*")
_ENDINGS = r"(?:s|es|ed|d|ing|er|ers)?(?:['’]s)?"
_STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it"}
    | {"no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these"}
    | {"they", "this", "to", "was", "will", "with"}
)


@functools.cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def stems(text: str) -> list[str]:
    words = [w for w in _WORD.findall(text.lower()) if len(w) > 1 and w not in _STOP_WORDS]
    stemmed: list[str] = _stemmer().stemWords(words)
    return stemmed


class Vocabulary:
    """Puts table talk into the rules' words: 'he sacs a trampler' -> 'he sacrifice a trample'."""

    def __init__(self, headings: Iterable[str]) -> None:
        talk = {form: h.lower() for h in headings for form in _bearers(h.lower())}
        talk |= _talk(Path(__file__).with_name("vocabulary.toml"))
        if (own := files.home() / "vocabulary.toml").exists():
            talk |= _talk(own)
        words = sorted(talk, key=len, reverse=True)  # 'board wipe' goes before 'board'
        self._meanings = [talk[word] for word in words]
        by_letter: dict[str, list[str]] = {}  # or each place would be tried with every word
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


class Bm25:
    """BM25 over stemmed words, in memory or on disk."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, texts: Sequence[str]) -> "Bm25":
        import bm25s

        index = bm25s.BM25(k1=1.2, b=0.75)
        # A word of its own keeps a text without any from being an error of the library.
        index.index([stems(text) or ["\0"] for text in texts], show_progress=False)
        return cls(index)

    @classmethod
    def load(cls, folder: Path) -> "Bm25":
        import bm25s

        return cls(bm25s.BM25.load(folder))

    def save(self, folder: Path) -> None:
        self._index.save(folder, show_progress=False)

    def weight(self, word: str) -> float:
        """How telling a word is; one that no text has counts like one that a single text has."""
        known, scores = self._index.vocab_dict.get(word), self._index.scores
        texts = 1 if known is None else int(scores["indptr"][known + 1] - scores["indptr"][known])
        return math.log(1 + (scores["num_docs"] - texts + 0.5) / (texts + 0.5))

    def knows(self, word: str) -> bool:
        return word in self._index.vocab_dict

    def scores(self, question_stems: Sequence[str]) -> "NDArray[np.float32]":
        """A score for every text; all zero where no word is known."""
        import numpy as np

        known = [word for word in question_stems if self.knows(word)]
        if not known:
            return np.zeros(self._index.scores["num_docs"], dtype="float32")
        scores: NDArray[np.float32] = self._index.get_scores(known)
        return scores


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
            f'{path} cannot be used ({error}): it takes lines such as swing = "attack" '
            "below a line [talk]."
        ) from None
