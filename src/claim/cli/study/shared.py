"""What the verbs share: options, opening a study, tables."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import say
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from claim.field.library import Library
    from claim.field.opened import OpenStudy, View

PASSPHRASE_VARIABLE = "CLAIM_PASSPHRASE"
NEW_PASSPHRASE_VARIABLE = "CLAIM_NEW_PASSPHRASE"

app = typer.Typer(help="Run a study from the command line.", no_args_is_help=True)

StudyOption = Annotated[str, typer.Option("--study", "-s", metavar="ID", help="Which study; not needed if only one.")]
StudiesOption = Annotated[
    str | None, typer.Option("--studies", metavar="DIR", help="Where studies are kept (else CLAIM_STUDIES).")
]
PersonArgument = Annotated[str, typer.Argument(help="A code or a name.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask again.")]


def library_in(studies: str | None) -> "Library":
    """The studies of a directory, or of the usual one."""
    from claim.field.library import Library

    return Library(studies)


def opened_study(study: str, studies: str | None) -> "OpenStudy":
    """A study, unlocked."""
    library = library_in(studies)
    return library.open(library.find(study).id, asked_passphrase())


def asked_passphrase(variable: str = PASSPHRASE_VARIABLE, asked: str = "Passphrase", *, confirm: bool = False) -> str:
    """From the environment or a hidden prompt; never from the command line, where others could read it."""
    given = os.environ.get(variable)
    if given:
        return given
    if not sys.stdin.isatty():
        raise InputError(f"no passphrase: set {variable}, or run this in a terminal")
    return str(typer.prompt(asked, hide_input=True, confirmation_prompt=confirm, err=True))


def warn_of_similar(view: "View", name: str) -> None:
    """Say that a new name looks like one that is there."""
    for match in view.index.similar(name, limit=1):
        say(f"{name!r} is added as somebody new; the same person as {match.name} ({match.code})? then merge them")


def table_of(title: str, columns: list[str], rows: list[dict[str, Any]]) -> "Table":
    """Rows as a table for people."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title))  # as it is: a name is no markup
    for column in columns:
        table.add_column(column.replace("_", " "))
    for row in rows:
        table.add_row(*(Text(str(row[column] if row[column] is not None else "")) for column in columns))
    return table
