"""What an importer is; each format's module makes one."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from claim.field.exchange.files.tables import Table
from claim.field.exchange.formats.builder import Builder
from claim.field.exchange.formats.mapping import Picked, listed
from claim.networks.formats.column_names import is_contact, is_numbered_contact, is_recruitment, looks_like_name

Tables = list[Table]


@dataclass(frozen=True)
class Importer:
    """One format that can be brought in."""

    name: str
    title: str
    recognises: Callable[[Tables], bool]
    read: Callable[[Tables, Builder], None]
    derive: bool = True  # whether contacts and namings are to be counted, because the format does not say


def unused(builder: Builder, table: Table) -> None:
    """Say that a table was not needed."""
    builder.notes.add(table.where, None, "not needed, left out")


def refuse_contacts(
    builder: Builder,
    table: Table,
    picked: Picked | None,
    *,
    ties_elsewhere: bool = False,
    ends: Collection[str] = (),
) -> None:
    """Note a problem if columns that play no part say who knows whom, since that would be lost.

    ``ties_elsewhere``: ties come from another table or column, so that only columns such as ``friend1`` are suspect.
    ``ends`` are the columns of the two people of a tie.
    """
    used = set(picked.places.values()) if picked else set()
    found = []
    for place, column in enumerate(table.columns):
        name, cells = column.rpartition("/")[2], [row.cells[place] for row in table.rows]
        if place in used:
            continue
        if is_numbered_contact(name, ends) or (is_recruitment(name) and not ties_elsewhere and not ends):
            suspect = any(cell.strip() for cell in cells)
        else:
            suspect = is_contact(name) and not ties_elsewhere and any(map(looks_like_name, cells))
        if suspect:
            found.append(column)
    if found:
        builder.problems.add(
            table.where,
            1,
            f"contacts in the columns {listed(found)} are not understood; "
            "a list of ties has two columns, such as person and contact, one contact a line",
        )
