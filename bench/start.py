"""How quickly commands start, and how long a new machine takes to be ready.

Run as: python -m bench.start
"""

import json
import sys
from pathlib import Path

from bench.measure import best, command, empty_home, head, numbered, row
from bench.search import RELEASE
from index import library, parsers
from index.editions import Rulebook
from index.embedder import PLAIN, Embedder
from index.passages import passages

_STICKLER = str(Path(sys.executable).with_name("stickler"))
_QUESTION = "Can a creature with reach block my flyer?"
_LOAD = """
import sys
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1])
"""
_ENCODE = f"""{_LOAD}
import json
from pathlib import Path
model.encode(json.loads(Path(sys.argv[2]).read_text("utf-8")), normalize_embeddings=True)
"""
_PREPARE = """
from qa.resources import Resources
resources = Resources()
resources.searcher
resources.out_of_scope("current")
"""


def main() -> None:
    head("Start")
    light()
    ask()
    new_machine()
    if RELEASE.exists():
        whole_release()
    else:
        print("| a whole release added | not there | | | |")


def light() -> None:
    """A command that needs neither index nor model, against starting Python."""
    mine, bare = best(
        lambda: command(_STICKLER, "rules", "show", "702.19b"),
        lambda: command(sys.executable, "-c", "pass"),
        rounds=20,
    )
    reference = f"python -c pass, {bare * 1e3:.0f} ms"
    row("stickler rules show 702.19b", f"{mine * 1e3:.0f} ms", reference, mine / bare, "5")


def ask() -> None:
    """An answer without a language model, against loading the packaged embedding model."""
    with empty_home():
        questions = numbered(_QUESTION)

        def answer() -> None:
            command(_STICKLER, "ask", "--model", "none", next(questions))

        answer()  # builds the index
        mine, raw = best(
            answer,
            lambda: command(sys.executable, "-c", _LOAD, str(Embedder(PLAIN).folder)),
        )
    reference = f"importing sentence-transformers and loading its model, {raw:.1f} s"
    row("stickler ask --model none, index built", f"{mine:.1f} s", reference, mine / raw, "1.3")


def new_machine() -> None:
    """Index and out-of-scope vectors from an empty data folder, compared with raw encoding."""
    book = library.load()
    views = ("current", *book.editions)
    texts = sorted({p.embedded for name in views for p in passages(book.edition(name))} - {""})

    def prepare() -> None:
        with empty_home():
            command(sys.executable, "-c", _PREPARE)

    with empty_home() as folder:
        path = folder / "texts.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        model = str(Embedder(PLAIN).folder)
        mine, raw = best(
            prepare, lambda: command(sys.executable, "-c", _ENCODE, model, str(path)), rounds=3
        )
    reference = f"loading the model and encoding the passages, {raw:.1f} s"
    row("preparing a new machine", f"{mine:.1f} s", reference, mine / raw, "1.3")


def whole_release() -> None:
    """The rules of a release added where the excerpts are in use, and a question answered."""
    book = Rulebook([parsers.parse(RELEASE.read_bytes(), RELEASE.name)])
    texts = sorted({p.embedded for p in passages(book.current)} - {""})
    with empty_home() as folder:
        command(_STICKLER, "ask", "--model", "none", _QUESTION)  # builds the excerpts' index

        def add_and_ask() -> None:
            command(_STICKLER, "rules", "add", str(RELEASE))
            command(_STICKLER, "ask", "--model", "none", _QUESTION)

        path = folder / "texts.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        model = str(Embedder(PLAIN).folder)
        mine, raw = best(
            add_and_ask, lambda: command(sys.executable, "-c", _ENCODE, model, str(path)), rounds=1
        )
    reference = f"loading the model and encoding its passages, {raw:.1f} s"
    row("a whole release added, and a question", f"{mine:.1f} s", reference, mine / raw, "60 s")


if __name__ == "__main__":
    main()
