"""The one error that people see: a sentence that says what is wrong, where, and what to do next."""


class SticklerError(Exception):
    """Shown as its message, without a traceback; the command ends with exit code 1."""

    def __init__(self, message: str) -> None:
        # What a file or a server said may be part of it: nothing of that may steer a terminal.
        plain = "".join(c if c.isprintable() else " " for c in message)
        super().__init__(" ".join(plain.split()))
