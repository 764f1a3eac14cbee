"""The options that several commands share, each defined once."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
EditionName = Annotated[
    str | None, typer.Option("--edition", help="The day a rulebook took effect, as YYYY-MM-DD.")
]
EmbedderName = Annotated[
    str,
    typer.Option(
        "--embedder",
        envvar="STICKLER_EMBEDDER",
        help="A sentence-transformers model: a folder, a Hugging Face id, or the output of 'tune'.",
    ),
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        envvar="STICKLER_MODEL",
        help="A name from 'stickler model list', none, a .gguf file, NAME@http://HOST/v1, a folder "
        "or a Hugging Face id.",
    ),
]
ShowGenerated = Annotated[
    bool,
    typer.Option(
        "--show-generated/--no-show-generated",
        help="Show the model's verdict and the sentences that a rule supports.",
    ),
]
ShowUnsure = Annotated[
    bool | None,
    typer.Option(
        "--show-generated/--no-show-generated",
        help="Show the model's reading even if it is unsure, or not at all.",
        show_default="only if it is sure",
    ),
]
