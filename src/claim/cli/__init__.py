"""The command line: one verb a job, one module a verb; each imports what it needs only when it runs."""

import sys
from io import TextIOWrapper
from typing import NoReturn

import typer

from claim.cli import advise, evaluate, experiment, explain, foresight, networks, plan, select, study, study_file, train  # noqa: F401
from claim.cli.app import app as assistant
from claim.errors import ClaimError

# Typer carries its own copy of Click, or uses the installed one, depending on its version; this is its error.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
INTERRUPTED = 130  # as shells report Ctrl-C; newer versions of Typer turn it into this exit code themselves

app = typer.Typer(
    name="claim",
    help="Whom to survey next in a social network nobody has a map of, and whom to recruit at the end.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"claim {version('claim')}")
        raise typer.Exit()


@app.callback()
def _options(
    debug: bool = typer.Option(False, "--debug", help="Show the full traceback of an error."),
    version: bool = typer.Option(
        False, "--version", help="Show the version and stop.", callback=_show_version, is_eager=True
    ),
) -> None:
    pass


app.add_typer(networks.app, name="networks")
app.add_typer(study.app, name="study")
app.add_typer(experiment.app, name="experiment")
app.add_typer(foresight.app, name="foresight")
for verb in (select.select, select.influence, evaluate.evaluate, advise.advise, plan.plan, train.train):
    app.command()(verb)
app.command()(explain.explain)
app.command("app")(assistant)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; what a user can put right is one line on standard error and exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows "?" rather than nothing
    debug = "--debug" in given
    words = _renamed([word for word in given if word != "--debug"])
    try:
        status = app(words, standalone_mode=False)
    except ClaimError as error:
        if debug:
            raise
        _stop(str(error), 2)
    except UsageError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        _stop(message, 2) if message else sys.exit(2)  # no message: a bare "claim", which has shown its help
    except (KeyboardInterrupt, typer.Abort):
        _stop("interrupted", INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has left; there is nobody to tell
        sys.exit(141)
    except OSError as error:
        if debug:
            raise
        _stop(f"{error.filename}: {error.strerror}" if error.filename else str(error), 2)
    except MemoryError:
        if debug:
            raise
        _stop("not enough memory for numbers this large", 2)
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


def _stop(message: str, code: int) -> NoReturn:
    typer.echo(f"claim: {' '.join(message.split())}", err=True)
    sys.exit(code)
