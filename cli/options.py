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
        help="A sentence-transformers model: a folder, a Hugging Face id, or what 'tune' made.",
    ),
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        envvar="STICKLER_MODEL",
        help="A name that 'stickler model list' shows, none, a .gguf file, NAME@http://HOST/v1, "
        "a folder or a hub's id.",
    ),
]
ShowGenerated = Annotated[
    bool,
    typer.Option(
        "--show-generated/--no-show-generated",
        help="Show the model's verdict and its sentences that a rule supports.",
    ),
]
ShowUnsure = Annotated[
    bool | None,
    typer.Option(
        "--show-generated/--no-show-generated",
        help="Show what the model says even where it is unsure, or not at all.",
        show_default="where it is sure",
    ),
]
