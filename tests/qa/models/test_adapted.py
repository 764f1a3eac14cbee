"""An adapter over the embedded model, where it does not fit; tuning has the tests where it does."""

import pytest
import torch

from index import tuned
from index.errors import SticklerError
from qa.models import embedded, load


def test_an_adapter_of_another_base_is_refused(tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(b"other weights")
    path = tmp_path / "answers.safetensors"
    tuned.write(path, other, {"model.layers.10.mlp.up_proj.up.weight": torch.zeros(1536, 16)})
    with pytest.raises(
        SticklerError, match=r"belong to other base weights .*stickler tune answers"
    ):
        load(str(path))


@pytest.mark.parametrize("content", [None, b"no weights at all"])
def test_an_adapter_that_is_missing_or_damaged_is_one_sentence(tmp_path, content):
    path = tmp_path / "answers.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SticklerError, match=r"cannot be read .*tune anew"):
        load(str(path))


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [
        ("model.layers.99.mlp.up_proj", {"down": (16, 576), "up": (1536, 16)}),
        ("model.layers.10.mlp.up_proj", {"up": (1536, 16)}),
        ("model.layers.10.mlp.up_proj", {"down": (16, 2), "up": (2, 16)}),
    ],
)
def test_an_adapter_with_parts_that_the_model_lacks_is_refused(tmp_path, layer, shapes):
    path = tmp_path / "answers.safetensors"
    tensors = {f"{layer}.{side}.weight": torch.zeros(shape) for side, shape in shapes.items()}
    tuned.write(path, embedded.packaged(), tensors)
    with pytest.raises(SticklerError, match=rf"parts that the model lacks \({layer}\)"):
        load(str(path))
