"""How quickly a light command starts, against starting Python at all."""

import subprocess
import sys
from pathlib import Path

from bench.measure import best, head, row

_STICKLER = str(Path(sys.executable).with_name("stickler"))


def main() -> None:
    head("Start")
    commands = {
        "stickler rules show 702.19b": [_STICKLER, "rules", "show", "702.19b"],
        "import typer": [sys.executable, "-c", "import typer"],
    }
    for what, command in commands.items():
        mine, bare = best(
            lambda command=command: _run(command),  # type: ignore[misc]
            lambda: _run([sys.executable, "-c", "pass"]),
            rounds=20,
        )
        row(what, f"{mine * 1e3:.0f} ms", f"python -c pass, {bare * 1e3:.0f} ms", mine / bare, "5")


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
