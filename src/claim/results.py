"""Results that show as a table in a notebook and convert to pandas."""

from html import escape
from typing import Any

from claim.errors import InputError


class Tabular:
    """A result made of rows; subclasses say in :meth:`records` what is in them."""

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per row, all with the same keys."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        try:
            import pandas
        except ImportError as error:
            raise InputError("to_frame needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.records())

    def _repr_html_(self) -> str:
        rows = self.records()
        heads = "".join(f"<th>{escape(str(key))}</th>" for key in (rows[0] if rows else ()))
        cells = ("".join(f"<td>{escape(_shown(value))}</td>" for value in row.values()) for row in rows)
        body = "".join(f"<tr>{line}</tr>" for line in cells)
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
