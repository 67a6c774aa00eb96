"""The command line: one module per verb; each imports what it needs only when it runs."""

import sys
from io import TextIOWrapper
from typing import NoReturn

import typer

from claim.cli import advise, evaluate, experiment, explain, foresight, networks, plan, select, study, study_file, train  # noqa: F401
from claim.cli.app import app as assistant
from claim.errors import ClaimError

# The error of Click, of which Typer has its own copy or uses the installed one, depending on its version.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
INTERRUPTED = 130  # as shells report Ctrl-C; newer versions of Typer turn it into this exit code themselves

app = typer.Typer(
    name="claim",
    help="Whom to survey next in an unmapped social network, and whom to recruit at the end.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from claim import __version__

        typer.echo(f"claim {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    debug: bool = typer.Option(False, "--debug", help="Show the full traceback of an error."),
    version: bool = typer.Option(
        False, "--version", help="Show the version and stop.", callback=_show_version, is_eager=True
    ),
) -> None:
    pass


for group in (networks, study, experiment, foresight):
    app.add_typer(group.app)
VERBS = (select.select, select.influence, evaluate.evaluate, advise.advise, plan.plan, train.train, explain.explain)
for verb in (*VERBS, assistant):
    app.command()(verb)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; an error that the user can correct is one line on standard error and exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter shows "?"
    try:
        status = app(_renamed([word for word in given if word != "--debug"]), standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # the reader closed the pipe
        sys.exit(141)
    except UsageError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        _stop(message, 2) if message else sys.exit(2)  # no message: a bare "claim", which has shown its help
    except (ClaimError, OSError, MemoryError) as error:
        if "--debug" in given:
            raise
        _stop(_message(error), 2)
    if status == INTERRUPTED:
        _stop("interrupted", INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


def _renamed(words: list[str]) -> list[str]:
    """The same words with options by their present names."""
    if words[:1] != ["evaluate"]:
        return words
    old = {"--start": "--start-size", "--starts": "--start-sets", "--answers": "--report-rate"}
    old["--untold"] = "--selector-unaware"
    parts = (word.partition("=") for word in words)
    return ["".join((old.get(option, option), sign, value)) for option, sign, value in parts]


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory for numbers this large"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _stop(message: str, code: int) -> NoReturn:
    typer.echo(f"claim: {' '.join(message.split())}", err=True)
    sys.exit(code)
