"""The one error that people see: a sentence that says what is wrong, where, and what to do next."""


class SticklerError(Exception):
    """Shown as its message, without a traceback; the command ends with exit code 1."""
