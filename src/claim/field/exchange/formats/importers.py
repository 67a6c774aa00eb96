"""What an importer is; each format's module makes one."""

from collections.abc import Callable
from dataclasses import dataclass

from claim.field.exchange.files.tables import Table
from claim.field.exchange.formats.builder import Builder

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
