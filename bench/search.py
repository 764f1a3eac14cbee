"""Building and searching, compared with the raw encoding of the same texts; and how both scale.

Run as: python -m bench.search
"""

import dataclasses
import random
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import best, empty_home, head, memory_mb, row
from index import library, parsers, store
from index.editions import Rulebook
from index.embedder import Embedder
from index.passages import passages
from index.rulebook import ParsedDocument, Rule
from index.searcher import Searcher

RELEASE = Path(__file__).resolve().parents[2] / "shared" / "releases" / "2026-04-17.txt"
_WORDS = [
    "creature",
    "player",
    "damage",
    "attack",
    "block",
    "spell",
    "ability",
    "cost",
    "target",
    "counter",
    "turn",
    "card",
]


def main() -> None:
    head("Index and search, shipped documents")
    ratios()
    growth()


def ratios() -> None:
    book, embedder = library.load(), Embedder()
    names = ("current", *book.editions)
    texts = {p.embedded for name in names for p in passages(book.edition(name)) if p.embedded}
    ordered = sorted(texts)
    embedder.model.encode(ordered[:32])  # warm

    def build() -> None:
        with empty_home():
            store.build(book, embedder)

    built, raw = best(
        build, lambda: embedder.model.encode(ordered, normalize_embeddings=True), rounds=3
    )
    row("build", f"{built:.1f} s", f"raw encode, {raw:.1f} s", built / raw, "1.15")
    with empty_home():
        store.build(book, embedder)
        start = time.perf_counter()
        store.build(_with_one_changed_rule(), embedder, force=True)
        again = time.perf_counter() - start
        row("rebuild after one changed rule", f"{again:.2f} s", "full build", again / built, "0.05")
        store.build(book, embedder, force=True)
        searcher = Searcher(book, store.open_store(book, embedder), embedder)
    question = "does my trampler need to kill both blockers before damage goes through?"
    searcher.search([question])
    mine, raw = best(
        lambda: searcher.search([question]),
        lambda: embedder.model.encode([question], normalize_embeddings=True),
        rounds=100,
    )
    row(
        "one warm search",
        f"{mine * 1e3:.1f} ms",
        f"raw encode, {raw * 1e3:.1f} ms",
        mine / raw,
        "1.5",
    )


def _with_one_changed_rule() -> Rulebook:
    parsed_documents = [library.read(document) for document in library.documents()]
    first, *others = parsed_documents[0].rules
    changed = (dataclasses.replace(first, text=first.text + " Changed."), *others)
    return Rulebook(
        [dataclasses.replace(parsed_documents[0], rules=changed), *parsed_documents[1:]]
    )


def growth() -> None:
    """Each size runs in its own process, so that memory is measured separately."""
    head(
        "Growth (the 100,000 are made up and their vectors random: no encoding)",
        (
            "book",
            "passages",
            "build",
            "of that encoding",
            "search",
            "raw encode",
            "ratio",
            "memory",
        ),
    )
    for size in ("shipped", "release", "100000"):
        if size == "release" and not RELEASE.exists():
            print("| release of 2026-04-17 | not there | | | | | | |")
            continue
        command = [sys.executable, "-m", "bench.search", size]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(out.strip().splitlines()[-1], flush=True)


def one_size(size: str) -> None:
    with empty_home():
        embedder = Embedder()
        if size == "100000":
            embedder = _RandomVectors()
            book = Rulebook([_made_up(100_000)])
        elif size == "release":
            book = Rulebook([parsers.parse(RELEASE.read_bytes(), RELEASE.name)])
        else:
            book = library.load()
        embedder.encode_questions(["warm"])
        timer = _Timed(embedder)
        start = time.perf_counter()
        manifest = store.build(book, timer, force=True)  # type: ignore[arg-type]
        built = time.perf_counter() - start
        searcher = Searcher(book, store.open_store(book, embedder), embedder)
        question = "which creature takes the damage if the attacking player has no blockers left?"
        searcher.search([question])
        took, raw = best(
            lambda: searcher.search([question]),
            lambda: embedder.model.encode([question], normalize_embeddings=True),
            rounds=100,
        )
        count = sum(manifest["views"].values())
        print(
            f"| {size} | {count} | {built:.1f} s | {timer.seconds:.1f} s | {took * 1e3:.1f} ms "
            f"| {raw * 1e3:.1f} ms | {took / raw:.2f} | {memory_mb():.0f} MB |"
        )


class _Timed:
    """An embedder that notes how long the encoding of passages takes."""

    def __init__(self, inner: Embedder) -> None:
        self.inner, self.seconds = inner, 0.0
        self.name, self.hash = inner.name, inner.hash

    def encode_passages(self, *args: object) -> object:
        start = time.perf_counter()
        try:
            return self.inner.encode_passages(*args)  # type: ignore[arg-type]
        finally:
            self.seconds += time.perf_counter() - start


class _RandomVectors(Embedder):
    """The real model for questions, random vectors for passages: 100,000 would take an hour."""

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["hash"] = "random"

    def encode_passages(self, texts, progress=None):  # type: ignore[no-untyped-def]
        import numpy as np

        rows = np.random.default_rng(1).standard_normal((len(texts), 384)).astype("float32")
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _made_up(count: int) -> ParsedDocument:
    pick = random.Random(1)
    rules = []
    for at in range(count // 2):  # two views hold each passage: the edition's and the current one
        section, rule = 100 + at // 9000, 1 + at % 9000
        text = " ".join(pick.choices(_WORDS, k=25)) + f" {pick.randrange(5000)}."
        rules.append(Rule(f"{section}.{rule}", text.capitalize(), "2026-01-01", "made up"))
    return ParsedDocument("made up", "2026-01-01", tuple(rules), {})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one_size(sys.argv[1])
    else:
        main()
