"""Tables: rows of numbers with their columns as format strings, and the tables of a comparison for the terminal."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from claim.evaluation.compare import Comparison, Difference, Row, method_name, without_nan

if TYPE_CHECKING:
    import rich.table

NOT_RUN = "not run"
DataRow: TypeAlias = Mapping[str, Any]
Cell: TypeAlias = str | Callable[[DataRow], str]  # a format string over the names of a row, or a function of the row
Column: TypeAlias = str | tuple[str, Cell]  # its head and its cells; a bare name is both

NETWORKS_ABREAST = 4  # as many as fit a terminal of 80 columns
_OPT = "OPT: the greedy oracle when the whole network is known."
_LEGEND = "Paired t-test, Holm-corrected over all comparisons: * p < 0.05, ** p < 0.01, *** p < 0.001."


@dataclass(frozen=True)
class Table:
    """Cells as a page shows them, and the rows of numbers behind them in full."""

    name: str  # of its files
    caption: str
    heads: Sequence[str]
    cells: Sequence[Sequence[str]]
    rows: Sequence[DataRow] = ()
    folded: bool = False  # a page shows it after a click

    def as_csv(self) -> str:
        """The numbers in full."""
        return csv_text(self.rows, list(dict.fromkeys(name for row in self.rows for name in row)))

    def as_markdown(self) -> str:
        """The cells, for pages of the documentation that carry the same numbers."""
        settings = ["---", *["---:"] * (len(self.heads) - 1)]
        return "".join(f"| {' | '.join(line)} |\n" for line in (self.heads, settings, *self.cells))


def table(name: str, caption: str, rows: Sequence[DataRow], columns: Iterable[Column], folded: bool = False) -> Table:
    """One line a row."""
    pairs = [(column, f"{{{column}}}") if isinstance(column, str) else column for column in columns]
    cells = [[cell(row, form) for _, form in pairs] for row in rows]
    return Table(name, caption, [head for head, _ in pairs], cells, rows, folded)


def pivot(name: str, caption: str, rows: Sequence[DataRow], index: Sequence[str], column: str, form: Cell) -> Table:
    """One line for each value of ``index``, with one column for each value of ``column``."""
    heads = [*index, *dict.fromkeys(str(row[column]) for row in rows)]
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        lines.setdefault(tuple(row[each] for each in index), []).append(cell(row, form))
    return Table(name, caption, heads, [[*labels, *cells] for labels, cells in lines.items()], rows)


class _NotRunError(Exception):
    """A value is None: it has not been measured."""


class _CellFormatter(Formatter):
    """Formats as ``str.format`` does, NaN as a dash; ``{p:*}`` gives the stars of a p-value, ``{x:.1f %}`` a unit."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            raise _NotRunError
        if format_spec == "*":
            return stars(value)
        if isinstance(value, float) and math.isnan(value):
            return "–"
        return format(value, format_spec.removesuffix(" %")) + " %" * format_spec.endswith(" %")


def cell(row: DataRow, form: Cell) -> str:
    """A cell of a table.

    A value that is NaN (it cannot exist) is a dash; a None (it has not been measured) makes the cell "not run"; a name
    that the row does not have makes it empty.
    """
    if not isinstance(form, str):
        return form(row)
    try:
        return _CellFormatter().vformat(form, (), row).strip()
    except _NotRunError:
        return NOT_RUN
    except KeyError:
        return ""


def bold(text: str) -> str:
    """A cell in bold, as Markdown writes it; pages know the same mark."""
    return f"**{text}**"


def stars(p_value: float) -> str:
    """The usual marks: * below 0.05, ** below 0.01, *** below 0.001."""
    return "" if math.isnan(p_value) else "*" * sum(p_value < level for level in (0.05, 0.01, 0.001))


def csv_text(rows: Iterable[DataRow], columns: Sequence[str]) -> str:
    """One line a row below a header; NaN and None are empty, and names of no column are left out."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(without_nan(dict(row)) for row in rows)
    return text.getvalue()


# A comparison in the terminal ----------------------------------------------------------------------------------------


def comparison_tables(result: Comparison) -> list["rich.table.Table"]:
    """For each protocol, tables of people reached and one of the differences to the first policy."""
    several = len({row.selector for row in result.rows}) > 1
    tables = []
    for protocol in dict.fromkeys(row.protocol for row in result.rows):
        rows = [row for row in result.rows if row.protocol == protocol]
        networks = list(dict.fromkeys(row.network for row in rows))
        for i in range(0, len(networks), NETWORKS_ABREAST):
            abreast = networks[i : i + NETWORKS_ABREAST]
            tables.append(_reached([row for row in rows if row.network in abreast], several, result.opt))
        tables += [_shares(of, several) for of in grouped(rows) if of[0].shares]
        first = method_name(rows[0], several)
        against = [each for each in result.comparisons if each.protocol == protocol and each.a == first]
        if against:
            tables.append(_differences(against, first))
    return tables


def marked_name(row: Row, several_selectors: bool) -> str:
    """The name of a row, marked where the policy knows more than the others or draws its own start people."""
    name = method_name(row, several_selectors)
    if row.reference:
        return f"{name} (reference)"
    return f"{name} (own start)" if row.own_start else name


def _reached(rows: list[Row], several: bool, opt: dict[str, float]) -> "rich.table.Table":
    title = f"People reached, {rows[0].protocol} protocol: mean ± standard error of {rows[0].runs} runs"
    named = [{**vars(row), "policy": marked_name(row, several)} for row in rows]
    form = "{mean:.1f} ±{stderr:.1f}" if rows[0].runs > 1 else "{mean:.1f}"
    cells = pivot("", "", named, ["policy"], "network", form)
    shown = _terminal_table(title, _OPT)
    shown.add_column("policy", overflow="fold")  # long names of files take more lines; numbers are never cut
    for network, *column in list(zip(cells.heads, *cells.cells, strict=True))[1:]:
        shown.add_column(network, justify="right", overflow="fold", min_width=max(map(len, column)))
    for line in cells.cells:
        shown.add_row(*line)
    if any(row.new_people is not None for row in rows):
        shown.caption = f"{_OPT} New people interviewed on average: {_new_people(rows, several)}."
    shown.add_section()
    shown.add_row("OPT", *(f"{opt[network]:.1f}" for network in cells.heads[1:]))
    return shown


def grouped(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each network."""
    return [[row for row in rows if row.network == name] for name in dict.fromkeys(row.network for row in rows)]


def _shares(rows: list[Row], several: bool) -> "rich.table.Table":
    shown = _terminal_table(f"Share of each group reached, % ({rows[0].network})", "")
    shown.add_column("policy", overflow="fold")
    for name in rows[0].shares or ():
        shown.add_column(name, justify="right", overflow="fold")
    for row in rows:
        shown.add_row(marked_name(row, several), *(f"{100 * share:.1f}" for share in (row.shares or {}).values()))
    return shown


def _new_people(rows: list[Row], several: bool) -> str:
    """By method, from the fewest to the most on any network."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(marked_name(row, several), []).append(row.new_people or 0.0)
    ranges = {name: dict.fromkeys(f"{number:.1f}" for number in (min(of), max(of))) for name, of in found.items()}
    return ", ".join(f"{name} {' to '.join(ends)}" for name, ends in ranges.items())


def _differences(against: list[Difference], first: str) -> "rich.table.Table":
    shown = _terminal_table(f"Difference to {first}, run by run", _LEGEND)
    for column in ("network", "policy", "difference", "95 % interval", "p", ""):
        justify: Literal["left", "right"] = "left" if column in ("network", "policy", "") else "right"
        shown.add_column(column, justify=justify, overflow="fold", no_wrap=column not in ("network", "policy"))
    for network, differences in groupby(against, lambda each: each.network):
        for i, each in enumerate(differences):
            low, high = (0.0 - bound for bound in reversed(each.ci95))  # 0.0 - x, so that no cell reads -0.0
            values = f"{0.0 - each.difference:+.1f}", f"{low:+.1f} to {high:+.1f}", cell(vars(each), "{p_holm:.2g}")
            shown.add_row("" if i else network, each.b, *values, stars(each.p_holm))
        shown.add_section()
    return shown


def _terminal_table(title: str, caption: str) -> "rich.table.Table":
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(title=title, caption=caption, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    shown.title_justify = shown.caption_justify = "left"
    return shown
