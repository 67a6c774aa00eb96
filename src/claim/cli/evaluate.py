"""``claim evaluate``: how many people each survey policy reaches."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.common import (
    DataDirOption,
    DirectedOption,
    Entry,
    JsonOption,
    ModelOption,
    ProbabilityOption,
    WorkersOption,
    counted,
    names,
    say,
    show,
    table,
)
from claim.errors import InputError
from claim.jobs import BackendName

if TYPE_CHECKING:
    from rich.table import Table

    from claim.evaluation.waves import Waves

Starts = Literal["published", "fresh"]
BudgetUnit = Literal["attempts", "answers", "pages"]
Population = Literal["unknown", "known"]


# What goes with --source
WITH_SOURCE = (
    "source", "start_people", "policies", "selector", "seed", "budget", "leaders", "p", "round_size", "budget_unit",
    "out", "json",
)  # fmt: skip
WITHOUT_WAVES = (
    "group", "groups_of_contacts", "fair", "directed", "start_sets", "curves", "workers", "backend", "address",
)  # fmt: skip


def evaluate(
    context: typer.Context,
    networks: Annotated[str, typer.Option(help="Comma-separated networks, families or files.")] = "zones",
    policies: Annotated[str, typer.Option(help="Comma-separated survey policies.")] = "random,change,degree+inverse",
    selector: Annotated[str, typer.Option(help="Who chooses the leaders; comma-separated.")] = "greedy",
    protocol: Annotated[str, typer.Option(help="field, paper, or both separated by a comma.")] = "field",
    runs: Annotated[int, typer.Option(help="Start sets per network.")] = 100,
    seed: Annotated[int, typer.Option(help="Governs everything but published start sets.")] = 10,
    budget: Annotated[int | None, typer.Option(help="Surveys; 5 unless said otherwise.")] = None,
    start_size: Annotated[int | None, typer.Option(help="People known at the beginning; else 5.")] = None,
    entry: Annotated[Entry, typer.Option(help="open: no person is known, new people can be interviewed.")] = "closed",
    interviews: Annotated[int | None, typer.Option(help="With --entry open: all interviews; else 10.")] = None,
    frame: Annotated[str, typer.Option(help="How new people are met: uniform, degree:A or share:S.")] = "uniform",
    population: Annotated[Population, typer.Option(help="known: selectors know the number of people.")] = "unknown",
    hub_question: Annotated[
        float | None, typer.Option(metavar="SIGMA", help="Ask who knows the most people, with this much noise.")
    ] = None,
    leaders: Annotated[int, typer.Option("--leaders", "-k", help="Leaders chosen at the end.")] = 10,
    p: ProbabilityOption = 0.1,
    model: ModelOption = "ic",
    judge_model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="How it spreads in truth; selectors assume --model.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="ATTRIBUTE", help="Ask people for this, and report the reach of each group.")
    ] = None,
    groups_of_contacts: Annotated[
        bool, typer.Option("--groups-of-contacts", help="With --group: ask for it of each contact named, too.")
    ] = False,
    fair: Annotated[
        str, typer.Option(help="With --group: selectors balance it by none, welfare:ALPHA, maximin or diversity.")
    ] = "none",
    directed: DirectedOption = False,
    start_sets: Annotated[Starts | None, typer.Option(help="Default: published where they exist, else fresh.")] = None,
    round_size: Annotated[int, typer.Option("--round", help="Surveys per round, chosen together.")] = 1,
    refusal: Annotated[float, typer.Option(help="Chance that a person refuses to be surveyed.")] = 0.0,
    budget_unit: Annotated[BudgetUnit, typer.Option(help="What the budget counts; pages: with --source.")] = "attempts",
    attendance: Annotated[float, typer.Option(help="Chance that a chosen leader attends.")] = 1.0,
    p_range: Annotated[str | None, typer.Option(metavar="LOW,HIGH", help="Draw each run's p from this range.")] = None,
    report_rate: Annotated[float, typer.Option(help="Chance that a surveyed person names a contact.")] = 1.0,
    selector_unaware: Annotated[
        bool, typer.Option("--selector-unaware", help="Hide attendance and the range of p from selectors.")
    ] = False,
    waves: Annotated[
        str | None, typer.Option(metavar="4,3,3", help="The gain of leaders in waves over choosing all at once.")
    ] = None,
    asked: Annotated[
        int | None, typer.Option(min=0, help="With --waves: people asked after each wave whether they were reached.")
    ] = None,
    workers: WorkersOption = None,
    backend: Annotated[BackendName, typer.Option(help="Where the runs are computed.")] = "local",
    address: Annotated[str | None, typer.Option(help="With --backend ray: an existing cluster.")] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write a run folder with an HTML report.")] = None,
    curves: Annotated[bool, typer.Option("--curves", help="With --out: also curves from 0 to 50 surveys.")] = False,
    source: Annotated[
        str | None, typer.Option(help="Discover a source: a folder of CSV files, a network or package.module:Class.")
    ] = None,
    start_people: Annotated[str | None, typer.Option(help="With --source: where to start, comma-separated.")] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Compare survey policies on the same start sets and the same cascades.

    Example: [bold]claim evaluate --networks zone2,zone3 --policies random,change --runs 100[/bold]

    With [bold]--source[/bold], policies discover what is no file, page by page; no reach can be measured there.
    """
    if source is not None:
        other = next((name for name in context.params if name not in WITH_SOURCE and _was_given(context, name)), None)
        if other is not None:
            option = next(each.opts[0] for each in context.command.params if each.name == other)
            raise InputError(f"{option} does not go with --source")
        study: dict[str, Any] = {"unit": budget_unit, "per_round": round_size, "leaders": leaders, "p": p}
        study |= {} if budget is None else {"budget": budget}
        _evaluate_source(
            source,
            names(start_people),
            names(policies),
            selector if _was_given(context, "selector") else "foresight",
            seed,
            out,
            json,
            **study,
        )
        return
    if start_people is not None or budget_unit == "pages":
        raise InputError("--start-people and --budget-unit pages need --source")
    began, quiet = time.perf_counter(), json == "-"
    from rich.console import Group

    from claim.evaluation import compare
    from claim.evaluation.conclusion import conclusion
    from claim.evaluation.tables import comparison_tables
    from claim.evaluation.waves import compare_waves
    from claim.io.files import make_folder

    if out is not None:
        make_folder(Path(out))
    elif curves:
        raise InputError("--curves needs --out DIR: the report shows the curves")
    if curves and entry == "open":
        raise InputError("--curves shows surveys of closed studies: compare open ones by --interviews")
    if waves is not None:
        if out is not None or entry == "open" or protocol != "field":
            raise InputError("--waves is for closed studies under the field protocol, and has no --out")
        found = _in_waves(waves)
        other = next((name for name in WITHOUT_WAVES if _was_given(context, name)), None)
        if other is not None:
            raise InputError(f"--{other.replace('_', '-')} does not go with --waves")
        if _was_given(context, "leaders") and leaders != sum(found):
            raise InputError(f"--waves {waves} chooses {sum(found)} leaders, but --leaders is {leaders}")
        given: dict[str, Any] = {"p": p, "per_round": round_size, "refusal": refusal, "unit": budget_unit}
        given |= {"attendance": attendance, "report_rate": report_rate, "selector_informed": not selector_unaware}
        given |= {name: value for name, value in (("budget", budget), ("start_size", start_size)) if value is not None}
        given |= {"model": model, "judge_model": judge_model, "p_range": _range(p_range), "population": population}
        with counted("runs", hidden=quiet) as progress:
            gain = compare_waves(
                names(networks), names(policies), found, names(selector), runs, seed,
                asked=asked, data_dir=data_dir, progress=progress, **given,
            )  # fmt: skip
        show(gain.to_dict(), _shown_waves(gain), json)
        return
    if asked is not None:
        raise InputError("--asked goes with --waves")
    closed: dict[str, Any] = {
        name: value for name, value in (("budget", budget), ("start_size", start_size)) if value is not None
    }
    placement: dict[str, Any] = {"workers": workers, "backend": backend, "address": address}
    with counted("runs", hidden=quiet) as progress:
        result = compare(
            names(networks), names(policies), names(selector), names(protocol), runs, seed,
            leaders=leaders, p=p, start_sets=start_sets, per_round=round_size, **closed,
            entry=entry, interviews=interviews, frame=frame, hub_question=hub_question, population=population,
            refusal=refusal, unit=budget_unit, attendance=attendance, p_range=_range(p_range), report_rate=report_rate,
            selector_informed=not selector_unaware, model=model, judge_model=judge_model,
            group=group, groups_of_contacts=groups_of_contacts, fair=fair,
            data_dir=data_dir, directed=directed or None, progress=progress, **placement,
        )  # fmt: skip
    show(result.to_dict(), Group(*comparison_tables(result), *conclusion(result)), json)
    if out is not None:
        from claim.evaluation.report import BUDGETS, write_run_folder

        with counted("report", hidden=quiet) as progress:
            budgets = BUDGETS if curves else ()
            report = write_run_folder(result, Path(out), budgets=budgets, progress=progress, **placement)
        if not quiet:
            say(f"report: {report}")
    if not quiet:
        say(f"{time.perf_counter() - began:.1f} s")


def _in_waves(given: str) -> list[int]:
    """Read the sizes of waves."""
    try:
        return [int(part) for part in given.split(",")]
    except ValueError as error:
        raise InputError(f"--waves takes numbers of leaders such as 4,3,3, not {given!r}") from error


def _shown_waves(gain: "Waves") -> "Table":
    """A table of the gains."""
    rows = []
    for row in gain.rows:
        low, high = row.ci95
        shown: dict[str, Any] = {"network": row.network, "policy": row.policy, "selector": row.selector}
        shown |= {"at once": f"{row.at_once:.1f}", "in waves": f"{row.in_waves:.1f}"}
        rows.append({**shown, "gain": f"{row.gain:+.2f}", "95 % interval": f"{low:+.2f} to {high:+.2f}"})
    title = f"People reached by leaders in waves of {', '.join(map(str, gain.waves))}: mean of {gain.rows[0].runs} runs"
    title += "" if gain.asked is None else f", {gain.asked} people asked after each wave"
    return table(title, rows[0], rows, right=("at once", "in waves", "gain", "95 % interval"))


def _was_given(context: typer.Context, name: str) -> bool:
    found = context.get_parameter_source(name)
    return found is not None and found.name == "COMMANDLINE"


def _evaluate_source(
    given: str,
    start: list[str],
    policies: list[str],
    selector: str,
    seed: int,
    out: str | None,
    json: str | None,
    **study: Any,
) -> None:
    from claim.evaluation.source_studies import find_source, study_source

    source = find_source(given)
    with counted(study["unit"], hidden=json == "-") as progress:
        found = study_source(
            source,
            start,
            policies,
            selector,
            seed,
            pages=None if out is None else Path(out),
            progress=progress,
            **study,
        )
    rows = [each.to_dict() for each in found]
    shown = [{**row, "expected reach": _expected(each.expected)} for row, each in zip(rows, found, strict=True)]
    columns = ["policy", "surveyed", "refused", "pages", "people", "ties", "expected reach", "leaders"]
    columns += ["cut_short"] * any(each.cut_short for each in found)
    note = "The reach is expected from what was seen (90 % range). Nothing measures it: the network is not known."
    show({"source": source.name, "start": start, "seed": seed, "rows": rows}, _with_note(columns, shown, note), json)


def _with_note(columns: list[str], rows: list[dict[str, Any]], note: str) -> Any:
    from rich.console import Group
    from rich.text import Text

    return Group(table("Discovered", columns, rows), Text(note))


def _expected(reach: tuple[float, float, float] | None) -> str:
    return "" if reach is None else "{:.0f} ({:.0f} to {:.0f})".format(*reach)


def _range(given: str | None) -> tuple[float, ...] | None:
    """The numbers of a range; whether they make one is for the comparison to say."""
    try:
        return None if given is None else tuple(float(part) for part in given.split(","))
    except ValueError as error:
        raise InputError(f"--p-range takes two numbers such as 0.05,0.2, not {given!r}") from error
