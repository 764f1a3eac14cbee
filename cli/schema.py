"""The command that prints the JSON schema of an answer: stickler schema.

Run as: stickler schema > docs/answer.schema.json
"""

import typer

from cli.terminal import show

app = typer.Typer()


@app.command()
def schema() -> None:
    """Print the JSON schema of an answer, as 'ask --json', a batch and the web API give it."""
    from qa.answer_schema import answer_schema

    show(answer_schema(), [], as_json=True)
