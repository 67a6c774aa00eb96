"""The comparison as tables for the terminal."""

import math
from typing import TYPE_CHECKING, Literal

from claim.discovery import draws_own_start
from claim.evaluation.compare import Comparison, Difference, Row, contender_name
from claim.registry import is_marked

if TYPE_CHECKING:
    from rich.table import Table

NETWORKS_ABREAST = 4  # as many as fit a terminal of 80 columns


def comparison_tables(result: Comparison) -> list["Table"]:
    """One table of people reached per protocol, and one of the differences to the first policy."""
    protocols = list(dict.fromkeys(row.protocol for row in result.rows))
    return [table for protocol in protocols for table in _of_protocol(result, protocol)]


def stars(p_value: float) -> str:
    """The usual marks: * below 0.05, ** below 0.01, *** below 0.001."""
    return "" if math.isnan(p_value) else "*" * sum(p_value < level for level in (0.05, 0.01, 0.001))


def marked_name(row: Row, several_selectors: bool) -> str:
    """How a row is called, with a mark where it does not play by the same rules as the others."""
    name = contender_name(row, several_selectors)
    if row.reference:
        return f"{name} (reference)"
    return f"{name} (own start)" if is_marked(row.policy, draws_own_start) else name


def number(value: float, form: str) -> str:
    """A number, or a dash where there is none (a standard error of one run)."""
    return "–" if math.isnan(value) else format(value, form)


def _of_protocol(result: Comparison, protocol: str) -> list["Table"]:
    rows = [row for row in result.rows if row.protocol == protocol]
    networks = list(dict.fromkeys(row.network for row in rows))
    parts = [networks[i : i + NETWORKS_ABREAST] for i in range(0, len(networks), NETWORKS_ABREAST)]
    tables = [_reached(rows, part, result.opt, protocol) for part in parts]
    several = len({row.selector for row in result.rows}) > 1
    name = contender_name(rows[0], several)
    against = [each for each in result.comparisons if each.protocol == protocol and each.a == name]
    if against:
        tables.append(_differences(against, name))
    return tables


def _reached(rows: list[Row], networks: list[str], opt: dict[str, float], protocol: str) -> "Table":
    table = _table(f"People reached, {protocol} protocol: mean ± standard error of {rows[0].runs} runs", _OPT)
    several = len({row.selector for row in rows}) > 1
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        error = "" if math.isnan(row.stderr) else f" ±{row.stderr:.1f}"
        cells.setdefault(marked_name(row, several), {})[row.network] = f"{row.mean:.1f}{error}"
    table.add_column("policy", overflow="fold")  # long names of files take more lines; numbers are never cut
    for network in networks:
        widest = max(len(by_network[network]) for by_network in cells.values())
        table.add_column(network, justify="right", overflow="fold", min_width=widest)
    for name, by_network in cells.items():
        table.add_row(name, *(by_network[network] for network in networks))
    table.add_section()
    table.add_row("OPT", *(f"{opt[network]:.1f}" for network in networks))
    return table


def _differences(against: list[Difference], first: str) -> "Table":
    table = _table(f"Difference to {first}, run by run", _LEGEND)
    for column in ("network", "policy", "difference", "95 % interval", "p", ""):
        justify: Literal["left", "right"] = "left" if column in ("network", "policy", "") else "right"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column not in ("network", "policy"))
    previous = against[0].network
    for each in against:
        if each.network != previous:
            table.add_section()
        name = each.network if each is against[0] or each.network != previous else ""
        previous = each.network
        low, high = (0.0 - bound for bound in reversed(each.ci95))  # 0.0 - x, because -0.0 is no number for people
        p_value = (number(each.p_holm, ".2g"), stars(each.p_holm))
        table.add_row(name, each.b, f"{0.0 - each.difference:+.1f}", f"{low:+.1f} to {high:+.1f}", *p_value)
    return table


def _table(title: str, caption: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.title_justify = table.caption_justify = "left"
    return table


_OPT = "OPT: the greedy oracle when the whole network is known."
_LEGEND = "Paired t-test, Holm-corrected over all comparisons: * p < 0.05, ** p < 0.01, *** p < 0.001."
