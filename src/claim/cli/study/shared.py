"""What the verbs share: options, opening a study, tables."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from claim.cli.common import lines_of, say
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from claim.field.library import Library
    from claim.field.opened import OpenStudy, View

T = TypeVar("T")
PASSPHRASE_VARIABLE = "CLAIM_PASSPHRASE"
NEW_PASSPHRASE_VARIABLE = "CLAIM_NEW_PASSPHRASE"

app = typer.Typer(help="Run a study from the command line.", no_args_is_help=True)

StudyOption = Annotated[str, typer.Option("--study", "-s", metavar="ID", help="Which study; not needed if only one.")]
StudiesOption = Annotated[
    str | None, typer.Option("--studies", metavar="DIR", help="Where studies are kept (else CLAIM_STUDIES).")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask again.")]

PERSON = "Person (code or name)"
_CODE = re.compile(r"[Pp][1-9][0-9]*")


def is_code(text: str) -> bool:
    """Whether a text has the form of a code, such as P3."""
    return _CODE.fullmatch(text.strip()) is not None


def kept_off(what: str, instead: str) -> InputError:
    """The error for something confidential on the command line; it does not repeat it."""
    reason = "it would stay in the shell's history and the process list"
    return InputError(f"{what} must not be on the command line, where {reason}; {instead}")


def check_codes(
    given: Iterable[str],
    instead: str = "give a code such as P3, or leave it out and enter the name at the prompt or on standard input",
) -> None:
    """Refuse arguments that are no codes, before a study is opened."""
    if not all(map(is_code, given)):
        raise kept_off("a name", instead)


def _only_codes(given: str | list[str] | None) -> str | list[str] | None:
    check_codes([given] if isinstance(given, str) else given or [])
    return given


PersonArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="CODE",
        callback=_only_codes,
        help="A code. Left out: a code or a name is asked for, or read from standard input.",
    ),
]
CodesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CODE",
        callback=_only_codes,
        help="Whom they named. Left out: codes and names, known or new, are asked for or read, one a line.",
    ),
]


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


class Entered:
    """What is entered at prompts or, if standard input is no terminal, on its lines in the order of the questions.

    Standard input is not read before the first question.
    """

    @cached_property
    def _lines(self) -> list[str] | None:
        return None if sys.stdin.isatty() else lines_of("-")

    def one(self, question: str, read: Callable[[str], T]) -> T:
        """The answer to a question, as ``read`` takes it; at a prompt what it refuses is asked for again."""
        if self._lines is not None:
            if not self._lines:
                raise InputError(f"standard input has no line for: {question}")
            return read(self._lines.pop(0))
        while (answer := _prompted(f"{question}: ")) is not None:
            try:
                return read(answer)
            except InputError as error:
                say(str(error))
        raise typer.Abort

    def many(self, question: str, read: Callable[[str], object] = str) -> list[str]:
        """All other lines; at a prompt those that ``read`` takes, up to an empty one."""
        if self._lines is not None:
            found = self._lines[:]
            self._lines.clear()
            return found
        say(f"{question}, one a line; an empty line ends:")
        found = []
        while answer := _prompted():
            try:
                read(answer)
                found.append(answer)
            except InputError as error:
                say(f"{error}; this line was left out")
        return found

    def end(self) -> None:
        """Refuse lines that nothing asked for."""
        if "_lines" in vars(self) and self._lines:
            raise InputError(f"standard input has {len(self._lines)} more lines than were asked for")


def _prompted(question: str = "") -> str | None:
    """A line without blanks around it; None at the end of the input."""
    typer.echo(question, nl=False, err=True)
    try:
        return input().strip()
    except EOFError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(f"what was entered is not text in {error.encoding}") from None


def coded(view: "View", code: str) -> str:
    """The current code of the person with a code, which may have been merged into another."""
    return view.study.state.root(code.strip().upper())


def person_of(view: "View", code: str | None) -> str:
    """The person of a code or, without one, the person who is asked for."""
    if code is not None:
        return coded(view, code)
    entered = Entered()
    who = entered.one(PERSON, view.find)
    entered.end()
    return who


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
