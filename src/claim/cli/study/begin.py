"""Beginning a study, and everybody in it."""

from typing import Annotated

import typer

from claim.cli.common import JsonOption, SeedOption, show
from claim.cli.study.shared import (
    Entered,
    StudiesOption,
    StudyOption,
    app,
    asked_passphrase,
    kept_off,
    library_in,
    opened_study,
    table_of,
    warn_of_similar,
)  # fmt: skip
from claim.errors import InputError


@app.command()
def create(
    title: Annotated[str | None, typer.Option(hidden=True)] = None,
    question: Annotated[str, typer.Option(help="The question that is asked.")] = "Whom do you talk to?",
    budget: Annotated[int, typer.Option(help="How many surveys there can be, beside the start people.")] = 20,
    leaders: Annotated[int, typer.Option(help="How many leaders will be asked.")] = 10,
    size_low: Annotated[int | None, typer.Option(help="At least so many people there are in all.")] = None,
    size_high: Annotated[int | None, typer.Option(help="At most so many.")] = None,
    consent_text: Annotated[str, typer.Option(help="What people consent to.")] = "",
    consent_version: Annotated[str, typer.Option(help="The version of that text.")] = "1",
    refusal_rule: Annotated[str, typer.Option(help="What the budget counts: attempts or answers.")] = "attempts",
    retention: Annotated[str | None, typer.Option(help="Close the study by this day (YYYY-MM-DD).")] = None,
    policy: Annotated[str | None, typer.Option(help="The rule that says whom to survey next.")] = None,
    selector: Annotated[str, typer.Option(help="How leaders are chosen: foresight or greedy.")] = "foresight",
    attendance: Annotated[float, typer.Option(help="Chance that a leader comes.")] = 1.0,
    p: Annotated[float, typer.Option("--probability", "-p", help="Chance that word passes along a contact.")] = 0.1,
    seed: SeedOption = 0,
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Begin a study; asks for its title and a passphrase. A lost passphrase cannot be recovered.

    The title is kept inside the encrypted file. Where standard input is no terminal, its one line is the title and the
    passphrase is that of CLAIM_PASSPHRASE.

    Example: [bold]claim study create --budget 18[/bold]
    """
    from claim.field import DEFAULT_POLICY, Setup, summaries

    if title is not None:
        raise kept_off("a title", "leave --title out and enter it at the prompt or on standard input")
    entered = Entered()
    title = entered.one("Title of the study", str)
    entered.end()
    setup = Setup(
        title, question, budget, leaders, size_low, size_high, consent_text, consent_version,
        refusal_rule,  # type: ignore[arg-type]  # checked by Setup
        retention, seed, p, policy or DEFAULT_POLICY,
        selector=selector,  # type: ignore[arg-type]  # checked by Setup
        attendance=attendance,
    )  # fmt: skip
    with library_in(studies).create(setup, asked_passphrase(confirm=True)) as opened:
        result = summaries.overview(opened.view)
    show(result, f"study {result['study']} is ready; without the passphrase nobody can read it", json)


@app.command("list")
def list_studies(studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List the studies there are; titles are encrypted too."""
    found = [{"study": each.id, "bytes": each.size, "modified": each.modified} for each in library_in(studies).list()]
    show({"studies": found}, table_of("Studies", ["study", "bytes", "modified"], found), json)


@app.command()
def people(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """Show where a study stands, and everybody in it."""
    from claim.field import summaries

    with opened_study(study, studies) as opened:
        result = {**summaries.overview(opened.view), "rows": summaries.people(opened.view)}
    counts = f"{result['people']} people, {result['ties']} ties, {result['surveys_left']} surveys left"
    title = f"{result['title']}: {counts}"
    show(result, table_of(title, ["code", "name", "state", "times_named", "leader"], result["rows"]), json)


@app.command(context_settings={"allow_extra_args": True})
def add(
    context: typer.Context,
    start: Annotated[bool, typer.Option("--start", help="They are the people to start with.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Add people the team knows; asks for their names, or reads them from standard input, one a line.

    Example: [bold]claim study add --start[/bold]
    """
    from claim.field import commands

    if context.args:
        raise kept_off("a name", "leave it out and enter names at the prompt or on standard input, one a line")
    with opened_study(study, studies) as opened:
        names = Entered().many("Names")
        if not names:
            raise InputError("no names were entered")
        for name in names:
            warn_of_similar(opened.view, name)
        done = opened.run(lambda draft: [commands.add_person(draft, name, is_start=start) for name in names])
    codes = done.result or []
    show({"people": codes}, f"added {', '.join(codes)}", json)
