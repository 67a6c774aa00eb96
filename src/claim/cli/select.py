"""``claim select`` and ``claim influence``: whom to recruit, and how many people they reach."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.advise import (
    Lists,
    MarksOption,
    StartFileOption,
    StartOrNewOption,
    SurveyedFileOption,
    marks_in,
    with_all,
)
from claim.cli.common import (
    DataDirOption,
    DirectedOption,
    EdgeProbabilitiesOption,
    Entry,
    JsonOption,
    LeadersOption,
    ModelOption,
    PeopleFileOption,
    ProbabilityOption,
    SeedOption,
    loaded,
    names,
    numbers,
    say,
    show,
    table,
)
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import Group

    from claim.networks import Network
    from claim.selection.fair import FairReach
    from claim.selection.foresight import Expected
    from claim.selection.foresight.groups import ExpectedGroup
    from claim.selection.robust import Judged

SHOWN_REASONS = 3


def influence(
    network: Annotated[str, typer.Argument(help="A known network or a file.")],
    leaders: Annotated[str, typer.Option(metavar="A,B,C", help="Labels of the leaders.")],
    p: ProbabilityOption = 0.1,
    samples: Annotated[int, typer.Option(help="Number of cascades to average over.")] = 10_000,
    model: ModelOption = "ic",
    directed: DirectedOption = False,
    edge_probabilities: EdgeProbabilitiesOption = False,
    seed: SeedOption = 0,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Estimate how many people these leaders reach.

    Example: [bold]claim influence zone2 --leaders 3,17,42[/bold]
    """
    from claim.cascades import influence as influence_under

    graph = loaded(network, data_dir=data_dir, directed=directed or None, probabilities=edge_probabilities)
    chosen = graph.indices_of(names(leaders))
    if not chosen:
        raise InputError("--leaders must name at least one person")
    began = time.perf_counter()
    found = influence_under(graph, [graph.labels[person] for person in chosen], p, samples, seed, model)
    result = {
        "leaders": [graph.labels[leader] for leader in chosen],
        "influence": found.mean,
        "stderr": found.stderr if samples > 1 else None,
        "samples": samples,
        "seconds": time.perf_counter() - began,
        "network": graph.name,
        "p": p,
        "model": model,
    }
    error = f" ± {found.stderr:.2f}" if samples > 1 else ""
    show(result, f"{len(chosen)} leaders reach {found.mean:.2f}{error} of {graph.n} people in {graph.name}", json)


def select(
    network: Annotated[str | None, typer.Argument(help="A known network or a file.")] = None,
    k: LeadersOption = 10,
    p: Annotated[
        str,
        typer.Option(
            "--probability",
            "-p",
            help="Probability that a message passes along a contact, 0 to 1; several with --robust.",
        ),
    ] = "0.1",
    method: Annotated[
        str,
        typer.Option(
            help="auto (greedy, or ris for large networks), greedy, ris, degree, degree-discount, pagerank, random; "
            "with --known also foresight."
        ),
    ] = "auto",
    samples: Annotated[int, typer.Option(help="Number of worlds that the greedy method samples.")] = 1000,
    may: Annotated[str | None, typer.Option(metavar="A,B", help="Choose from these people only.")] = None,
    must: Annotated[str | None, typer.Option(metavar="A,B", help="Include these people.")] = None,
    must_not: Annotated[str | None, typer.Option(metavar="A,B", help="Exclude these people.")] = None,
    known: Annotated[str | None, typer.Option(metavar="FILE", help="A partly known network: the ties so far.")] = None,
    surveyed: Annotated[str, typer.Option(metavar="A,B", help="With --known: people surveyed, in order.")] = "",
    surveyed_file: SurveyedFileOption = None,
    start: StartOrNewOption = "",
    start_file: StartFileOption = None,
    marks: MarksOption = None,
    entry: Annotated[Entry, typer.Option(help="With --known; open: new people were interviewed, too.")] = "closed",
    size: Annotated[int | None, typer.Option("--people", min=1, help="With --known: people in all.")] = None,
    group: Annotated[
        str | None, typer.Option(metavar="ATTRIBUTE", help="Report the reach of each group, such as ethnicity.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="How the message spreads: ic, ic:steps=N, lt or threshold:N; several with --robust.")
    ] = "ic",
    robust: Annotated[
        Literal["mean", "worst"] | None,
        typer.Option(help="Choose for several models and values of p: by the mean reach, or the worst ratio."),
    ] = None,
    fair: Annotated[
        str, typer.Option(help="Balance the groups: none, welfare:ALPHA (at most 1), maximin or diversity.")
    ] = "none",
    people_file: PeopleFileOption = None,
    curve: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --group: draw reach and shares over ALPHA (.svg or .png).")
    ] = None,
    backend: Annotated[
        Literal["local", "ray"], typer.Option(help="Where the method ris runs: here, or on a Ray cluster.")
    ] = "local",
    address: Annotated[str | None, typer.Option(help="With --backend ray: an existing cluster.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --backend ray: processes; all cores if not given.")
    ] = None,
    directed: DirectedOption = False,
    edge_probabilities: EdgeProbabilitiesOption = False,
    seed: SeedOption = 0,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Choose the leaders who reach the most people.

    Example: [bold]claim select zone2 -k 10 -p 0.1[/bold]
    """
    from claim.selection import fair_curve
    from claim.selection import select as choose

    if (network is None) == (known is None):
        raise InputError("give either a network or --known ties.csv")
    lists = Lists.given(surveyed, surveyed_file, "", None, start, start_file)
    if (lists.surveyed or lists.start or size or marks or entry == "open") and known is None:
        raise InputError("--surveyed, --start, --marks, --entry open and --people go with --known")
    foresight = method.partition(":")[0] == "foresight"
    if foresight and known is None:
        raise InputError(f"{method} chooses from a partly known network: it goes with --known")
    given = network or known or ""
    if group is None and (fair != "none" or people_file is not None or curve is not None):
        raise InputError("--fair, --people-file and --curve go with --group ATTRIBUTE")
    reading = {"data_dir": data_dir, "directed": directed or None, "probabilities": edge_probabilities}
    graph = loaded(given, **reading, people=people_file)
    graph = with_all(graph, lists.surveyed) if entry == "open" else graph
    graph.indices_of(lists.surveyed)  # refuses labels that are not in the file
    both = [name for name in names(must) if name in names(must_not)]
    if both:
        raise InputError(f"{both[0]} is in both --must and --must-not")
    began = time.perf_counter()
    options: dict[str, Any] = {"must": names(must), "must_not": names(must_not), "people": size}
    options |= {"surveyed": lists.surveyed, "start": lists.start, "marks": marks_in(marks), "entry": entry}
    options |= {"may": None if may is None else names(may), "group": group, "model": names(model), "robust": robust}
    placement: dict[str, Any] = {"backend": backend, "address": address, "workers": workers}
    chances = numbers("--probability", p)
    chosen = choose(graph, k, chances, samples, seed, method, fair=fair, **options, **placement)
    if not chosen.leaders:
        raise InputError("no people are left to choose from")
    result: dict[str, Any] = {
        "leaders": chosen.leaders,
        "influence": chosen.influence,
        "stderr": chosen.stderr,
        "seconds": time.perf_counter() - began,
        "method": chosen.method if method == "auto" else method,
        "network": graph.name,
        "k": k,
        "p": chances if robust else chances[0],
        "model": names(model) if robust else model,
    }
    if chosen.robust:
        result |= {"robust": robust, "judged": [each.to_dict() for each in chosen.robust]}
    if chosen.expected is not None:
        result |= {"expected": chosen.expected._asdict(), "reasons": chosen.reasons}
        result["replacements"] = chosen.replacements
    if chosen.expected_groups:
        by_group = {name: {**each._asdict(), "share": each.share} for name, each in chosen.expected_groups.items()}
        result |= {"group": group, "fair": fair, "expected_groups": by_group}
    if chosen.fair is not None:
        result |= {"group": group, "fair": fair, **_by_group(chosen.fair)}
        if json != "-":
            _say_unknown(graph, chosen.fair)
    if curve is not None:
        _draw_curve(Path(curve), fair_curve(graph, k, chances[0], samples, seed, **options))
    if known is not None and not foresight and json != "-":
        surveys = len(lists.surveyed)
        say(f"reach is counted on the known part only ({surveys} people surveyed): expect more on the whole network")
    shown = _shown(graph, result, chosen.expected)
    if chosen.fair is not None:
        shown.renderables.extend(_shown_groups(chosen.fair))
    if chosen.expected_groups:
        shown.renderables.extend(_shown_expected(str(group), chosen.expected_groups))
    if chosen.robust:
        shown.renderables.extend(_shown_beliefs(chosen.robust))
    show(result, shown, json)


def _by_group(fair: "FairReach") -> dict[str, Any]:
    """The reach of each group as plain data."""
    return {
        "groups": {name: each.to_dict() for name, each in fair.groups.items()},
        "unknown": fair.unknown,
        "gap": fair.gap,
        "gaps": [{"groups": list(pair), "gap": gap} for pair, gap in fair.gaps.items()],
        "price": {"people": fair.price, "percent": fair.percent},
    }


def _say_unknown(graph: "Network", fair: "FairReach") -> None:
    """Report people who are in no group, and those of the file who are not in the network."""
    if fair.unknown:
        say(f"{fair.unknown} of {graph.n} people are in no group: their {fair.attribute} is not known")
    if left_out := graph.people.left_out:
        listed = ", ".join(left_out[:5]) + (", …" if len(left_out) > 5 else "")
        say(f"{len(left_out)} people of the file are not in {graph.name} and were left out: {listed}")


def _shown_groups(fair: "FairReach") -> list[Any]:
    """A table of the groups, and what the balance between them costs."""
    rows = []
    for name, each in fair.groups.items():
        row = {fair.attribute: name, "people": each.size, "reached": f"{each.reached:.1f}"}
        row["share"] = f"{100 * each.share:.1f} ± {100 * each.stderr:.1f} %"
        if each.least is not None:
            row["at least"] = f"{each.least:.1f}"
        rows.append(row)
    lines = []
    if len(fair.groups) > 1:
        gap = f"{100 * fair.gap:.1f} points"
        lines.append(f"The largest and the smallest share of a cascade are {gap} apart on average.")
    if fair.price:
        than = f"{abs(fair.price):.1f} people {'more' if fair.price > 0 else 'fewer'} ({abs(fair.percent):.1f} %)"
        lines.append(f"Leaders chosen for the plain reach would reach {than}.")
    short = [name for name, each in fair.groups.items() if each.least is not None and each.reached < each.least]
    if short:
        lines.append(f"Less than with leaders of their own: {', '.join(short)}.")
    title = f"Reach by {fair.attribute}"
    return ["", table(title, rows[0], rows, right=("people", "reached", "share", "at least")), *lines]


def _shown_expected(group: str, expected: "dict[str, ExpectedGroup]") -> list[Any]:
    """A table of the groups with the reach to expect in each."""
    rows = [
        {group: name, "people, about": f"{each.size:.0f}", "reached": f"{each.reached:.1f}"}
        | {"likely": f"{each.low:.1f} to {each.high:.1f}", "share": f"{100 * each.share:.1f} %"}
        for name, each in expected.items()
    ]
    return ["", table(f"Expected reach by {group}", rows[0], rows, right=list(rows[0])[1:])]


def _shown_beliefs(judged: "list[Judged]") -> list[Any]:
    """A table of the leaders for each belief, judged by each."""
    rows = [
        {"chosen for": each.chosen_for}
        | {name: f"{100 * ratio:.0f}" for name, ratio in each.ratios.items()}
        | {"worst": f"{100 * each.worst:.0f}"}
        for each in judged
    ]
    own = {each.chosen_for: each.reach for each in judged}
    people = {name: f"{own[name][name]:.1f}" for name in judged[0].reach}
    rows.append({"chosen for": "people at 100 %", **people, "worst": ""})
    title = "Reach if the message spreads by …, in % of what leaders chosen for that reach"
    return ["", table(title, rows[0], rows, right=list(rows[0])[1:])]


def _draw_curve(path: Path, points: "list[tuple[float, FairReach]]") -> None:
    """Draw reach and shares over alpha."""
    if path.suffix not in (".svg", ".png"):
        raise InputError(f"--curve must end in .svg or .png, got {str(path)!r}")
    from claim.evaluation.report_kit import PALETTE, Figure, Line, line_panels
    from claim.io.files import write_whole

    reach = [(alpha, 100 - fair.percent, 0.0) for alpha, fair in points]
    panels = {"Reach, % of the plain reach": [Line("all people", PALETTE[0], reach)]}
    panels["Share of each group, %"] = [
        Line(
            name,
            PALETTE[(1 + i) % len(PALETTE)],
            [(a, 100 * f.groups[name].share, 100 * f.groups[name].stderr) for a, f in points],
        )
        for i, name in enumerate(points[0][1].groups)
    ]
    drawing = line_panels(panels, "alpha of the welfare (1: plain reach)", "per cent", columns=2)
    write_whole(path, Figure("curve", "", drawing).rendered(path.suffix[1:]))


def _shown(graph: "Network", result: dict[str, Any], expected: "Expected | None") -> "Group":
    """A table of the leaders; by foresight, with the reach to expect, reasons, and the reach on the known part."""
    from rich.console import Group

    rows: list[dict[str, Any]] = [
        {"rank": rank, "leader": str(leader), "contacts": graph.degrees[graph.index_of(leader)]}
        for rank, leader in enumerate(result["leaders"], 1)
    ]
    title, lines = f"{len(rows)} leaders of {graph.name}", []
    reach = f"{result['influence']:.1f} ± {result['stderr']:.1f}"
    if expected is not None:
        for row, why in zip(rows, result["reasons"], strict=True):
            row["why"] = why[:SHOWN_REASONS]
        title += f": {expected}"
        lines.append(f"Of the {graph.n} people known so far they reach {reach}.")
        if result["replacements"]:
            lines.append(f"If a leader declines, ask in this order: {', '.join(map(str, result['replacements']))}.")
    else:
        title += f" reach {reach} of {graph.n} people"
    title += f" ({result['method']}, {result['seconds']:.2f} s)"
    return Group(table(title, rows[0], rows, right=("contacts",)), *lines)
