"""Text in Markdown files, such as a saved conversation: what is written stays what is read."""

import re


def escape(text: str) -> str:
    """Text that Markdown shows verbatim: no markup, no HTML, and no list if it starts '702. '."""
    clean = re.sub(r"([\\`*_{}\[\]<>#|~!])", r"\\\1", text.encode(errors="replace").decode())
    return re.sub(r"^(\s*)([-+]|\d+[.)])(?=\s)", lambda m: f"{m[1]}{m[2][:-1]}\\{m[2][-1]}", clean)


def escape_line(text: str) -> str:
    """The same as a single line."""
    return escape(" ".join(text.split()))
