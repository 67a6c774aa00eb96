"""Errors a person can act on: one line that says what was wrong and where."""


class ClaimError(Exception):
    """Something the user can put right; shown as one line, without a traceback."""


class InputError(ClaimError):
    """A file or a value that cannot be used as given."""

    @classmethod
    def at(cls, path: object, line: int | None, problem: str) -> "InputError":
        """An error located in a file: ``ties.csv:7: ...`` (or ``ties.csv: ...`` without a line)."""
        where = f"{path}:{line}" if line is not None else f"{path}"
        return cls(f"{where}: {problem}")
