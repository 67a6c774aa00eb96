"""``claim select`` and ``claim influence``: whom to recruit, and how far their word reaches."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.advise import Lists, StartFileOption, StartOption, SurveyedFileOption, study_so_far
from claim.cli.common import (
    DataDirOption,
    DirectedOption,
    EdgeProbabilitiesOption,
    JsonOption,
    LeadersOption,
    ProbabilityOption,
    SeedOption,
    names,
    people,
    report_dropped,
    say,
    show,
)
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from claim.discovery import Discovered
    from claim.networks import Network
    from claim.selection import Selection
    from claim.selection.foresight import Expected, Foresight


def influence(
    network: Annotated[str, typer.Argument(help="A known network or a file.")],
    leaders: Annotated[str, typer.Option(metavar="A,B,C", help="The leaders, by label.")],
    p: ProbabilityOption = 0.1,
    samples: Annotated[int, typer.Option(help="How many cascades to average over.")] = 10_000,
    directed: DirectedOption = False,
    edge_probabilities: EdgeProbabilitiesOption = False,
    seed: SeedOption = 0,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Estimate how many people hear of it if these leaders start.

    Example: [bold]claim influence zone2 --leaders 3,17,42[/bold]
    """
    from claim.cascades import influence as estimate
    from claim.networks import load

    graph = load(network, data_dir=data_dir, directed=directed or None, probabilities=edge_probabilities)
    report_dropped(graph)
    chosen = people(graph, names(leaders))
    if not chosen:
        raise InputError("--leaders names nobody")
    began = time.perf_counter()
    found = estimate(graph, chosen, p, samples, seed)
    result = {
        "leaders": [graph.labels[leader] for leader in chosen],
        "influence": found.mean,
        "stderr": found.stderr if samples > 1 else None,
        "samples": samples,
        "seconds": time.perf_counter() - began,
        "network": graph.name,
        "p": p,
    }
    error = f" ± {found.stderr:.2f}" if samples > 1 else ""
    show(result, f"{len(chosen)} leaders reach {found.mean:.2f}{error} of {graph.n} people in {graph.name}", json)


FORESIGHT = "foresight"
REPLACEMENTS = 5
SHOWN_REASONS = 3


def select(
    network: Annotated[str | None, typer.Argument(help="A known network or a file.")] = None,
    k: LeadersOption = 10,
    p: ProbabilityOption = 0.1,
    method: Annotated[
        str, typer.Option(help="greedy, ris, degree, degree-discount, pagerank, random; with --known also foresight.")
    ] = "greedy",
    samples: Annotated[int, typer.Option(help="Worlds the greedy oracle looks at.")] = 1000,
    may: Annotated[str | None, typer.Option(metavar="A,B", help="Only these people may be chosen.")] = None,
    must: Annotated[str | None, typer.Option(metavar="A,B", help="These people are leaders in any case.")] = None,
    must_not: Annotated[str | None, typer.Option(metavar="A,B", help="These people are not chosen.")] = None,
    known: Annotated[str | None, typer.Option(metavar="FILE", help="A partly known network: the ties so far.")] = None,
    surveyed: Annotated[str, typer.Option(metavar="A,B", help="With --known: who was surveyed, in order.")] = "",
    surveyed_file: SurveyedFileOption = None,
    start: StartOption = "",
    start_file: StartFileOption = None,
    size: Annotated[
        int | None,
        typer.Option("--people", min=1, help="With --known: how many people there are; no reach is above it."),
    ] = None,
    directed: DirectedOption = False,
    edge_probabilities: EdgeProbabilitiesOption = False,
    seed: SeedOption = 0,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Choose the leaders whose word reaches the most people.

    Example: [bold]claim select zone2 -k 10 -p 0.1[/bold]
    """
    from claim.networks import load
    from claim.selection import select as choose

    if (network is None) == (known is None):
        raise InputError("give either a network or --known ties.csv")
    lists = Lists.given(surveyed, surveyed_file, "", None, start, start_file)
    if (lists.surveyed or lists.start or size) and known is None:
        raise InputError("--surveyed, --start and --people go with --known")
    foresight = method.partition(":")[0] == FORESIGHT
    if foresight and known is None:
        raise InputError(f"{method} looks past what is known so far: it goes with --known")
    graph = load(network or known or "", data_dir=data_dir, directed=directed or None, probabilities=edge_probabilities)
    report_dropped(graph)
    people(graph, lists.surveyed)  # a name that is not in the file is better refused than passed over
    both = [name for name in names(must) if name in names(must_not)]
    if both:
        raise InputError(f"{both[0]} both must and must not be chosen")
    began = time.perf_counter()
    wishes: dict[str, Any] = {
        "may": None if may is None else people(graph, names(may)),
        "must": people(graph, names(must)),
        "must_not": people(graph, names(must_not)),
    }
    ahead: Ahead | None = None
    if foresight:
        from claim.selection.foresight import check_foresight, foresight_named

        check_foresight(graph, method)
        seen = study_so_far(graph, None, lists)
        chosen, ahead = _foreseen(graph, foresight_named(method, p=p, samples=samples), seen, k, seed, wishes, size)
    else:
        chosen = choose(graph, k, p, samples, seed, method, **wishes)
    if not chosen.leaders:
        raise InputError("nobody is left to choose from")
    result: dict[str, Any] = {
        "leaders": [graph.labels[leader] for leader in chosen.leaders],
        "influence": chosen.influence,
        "stderr": chosen.stderr,
        "seconds": time.perf_counter() - began,
        "method": method,
        "network": graph.name,
        "k": k,
        "p": p,
    }
    if ahead is not None:
        result |= {
            "expected": ahead.expected._asdict(),
            "reasons": ahead.reasons,
            "replacements": [graph.labels[person] for person in ahead.replacements],
        }
    elif known is not None and json != "-":
        surveys = len(lists.surveyed)
        say(f"reach is counted on the known part only ({surveys} people surveyed): expect more in truth")
    show(result, _table(graph, result) if ahead is None else _foresight_table(graph, result), json)


@dataclass(frozen=True)
class Ahead:
    """What foresight adds to leaders: the reach to expect, why each was chosen, and who comes next if one declines."""

    expected: "Expected"
    reasons: list[list[str]]
    replacements: list[int]


def _foreseen(
    graph: "Network",
    selector: "Foresight",
    seen: "Discovered",
    k: int,
    seed: int,
    wishes: dict[str, Any],
    most: int | None,
) -> "tuple[Selection, Ahead]":
    """Leaders by their reach on the whole network, how many people they reach on the known part, and what to expect."""
    import numpy as np

    from claim.selection import Selection
    from claim.selection.api import estimate_influence
    from claim.selection.foresight import told
    from claim.selection.greedy import Candidates

    Candidates.of(len(seen), k, **wishes)  # refuses wishes that the longer list would have room for
    choosing, judging, expecting, reasoning = np.random.default_rng(seed).spawn(4)
    ranked = selector.select(seen, k + REPLACEMENTS, choosing, **wishes)
    leaders = ranked[:k]
    reach = estimate_influence(graph, leaders, selector.p, judging)
    expected = selector.expect(seen, leaders, expecting)
    if most is not None:
        expected = expected.at_most(float(max(most, len(seen))))
    found = selector.reasons(seen, leaders, reasoning, (expected.mean, len(leaders)), **wishes)
    reasons = [[why.text for why in whys] for whys in told(found)]
    ahead = Ahead(expected, reasons, ranked[k:])
    return Selection(leaders, reach.mean, reach.stderr, FORESIGHT), ahead


def _table(graph: "Network", result: dict[str, Any]) -> "Table":
    from rich.table import Table

    title = f"{len(result['leaders'])} leaders of {graph.name} reach {result['influence']:.1f} ± {result['stderr']:.1f}"
    table = Table(title=f"{title} of {graph.n} people ({result['method']}, {result['seconds']:.2f} s)")
    table.add_column("rank", justify="right")
    table.add_column("leader")
    table.add_column("contacts", justify="right")
    for rank, leader in enumerate(result["leaders"], 1):
        table.add_row(str(rank), str(leader), str(graph.degrees[graph.index_of(leader)]))
    return table


def _foresight_table(graph: "Network", result: dict[str, Any]) -> "Group":
    """The reach to expect as the headline, why each leader was chosen, and what is sure: the known part."""
    from rich.console import Group
    from rich.table import Table

    guess = "a rough guess: about {} people reached".format(round(result["expected"]["mean"]))
    title = f"{len(result['leaders'])} leaders of {graph.name}, {guess}"
    table = Table(title=f"{title} ({result['method']}, {result['seconds']:.2f} s)")
    table.add_column("rank", justify="right")
    table.add_column("leader")
    table.add_column("contacts", justify="right")
    table.add_column("why")
    for rank, (leader, reasons) in enumerate(zip(result["leaders"], result["reasons"], strict=True), 1):
        contacts = str(graph.degrees[graph.index_of(leader)])
        table.add_row(str(rank), str(leader), contacts, "; ".join(reasons[:SHOWN_REASONS]))
    lines = [f"Of the {graph.n} people known so far they reach {result['influence']:.1f} ± {result['stderr']:.1f}."]
    if result["replacements"]:
        lines.append(f"If somebody declines, ask in this order: {', '.join(map(str, result['replacements']))}.")
    return Group(table, *lines)
