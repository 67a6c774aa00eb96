"""``claim influence``: how many people given leaders reach."""

import time
from typing import Annotated

import typer

from claim.cli.common import (
    DataDirOption,
    DirectedOption,
    EdgeProbabilitiesOption,
    JsonOption,
    ProbabilityOption,
    SeedOption,
    names,
    people,
    report_dropped,
    show,
)
from claim.errors import InputError


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
