"""Beginning a study, and everybody in it."""

from typing import Annotated

import typer

from claim.cli.common import JsonOption, SeedOption, show
from claim.cli.study.shared import (
    StudiesOption,
    StudyOption,
    app,
    asked_passphrase,
    library_in,
    opened_study,
    table_of,
    warn_of_similar,
)  # fmt: skip


@app.command()
def create(
    title: Annotated[str, typer.Option(help="What the study is called; kept inside the encrypted file.")],
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
    """Begin a study; asks for a passphrase, which nobody can recover.

    Example: [bold]claim study create --title "Drop-in centre" --budget 18[/bold]
    """
    from claim.field import DEFAULT_POLICY, Setup, summaries

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


@app.command()
def add(
    people: Annotated[list[str], typer.Argument(help="Names, one an argument.")],
    start: Annotated[bool, typer.Option("--start", help="They are the people to start with.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Add people the team knows.

    Example: [bold]claim study add --start "Ana López" Ben[/bold]
    """
    from claim.field import commands

    with opened_study(study, studies) as opened:
        for name in people:
            warn_of_similar(opened.view, name)
        done = opened.run(lambda draft: [commands.add_person(draft, name, is_start=start) for name in people])
    codes = done.result or []
    show({"people": codes}, f"added {', '.join(codes)}", json)
