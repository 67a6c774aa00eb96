"""``claim foresight``: train the models of the foresight selector, and check the reach it says to expect."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from claim.cli.common import (
    DataDirOption,
    JsonOption,
    ProbabilityOption,
    SeedOption,
    check_json_target,
    counted,
    names,
    show,
    table,
    whole,
)
from claim.errors import InputError

Family = Literal["retweet", "animal", "zones", "all", "free"]
LOOK_ALIKES = "look-alikes:"
STUDIES_EACH = 5  # of each look-alike

_ABOUT = "Train the selector that counts contacts not yet seen, and check the reach it expects."
app = typer.Typer(name="foresight", no_args_is_help=True, help=_ABOUT)


@app.command()
def train(
    family: Annotated[Family, typer.Option(help="Family of the training networks; free: only ranges, no model.")],
    seed: SeedOption = 0,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Model file (else foresight.FAMILY.json).")] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Train the model of a family on its training networks and on random ones like them; takes some minutes.

    The model can be used at once: [bold]--selector foresight:foresight.retweet.json[/bold]

    Example: [bold]claim foresight train --family retweet --data-dir data[/bold]
    """
    path = out or f"foresight.{family}.json"
    check_json_target(path)
    from claim.fitting.foresight import train_by_name

    with counted(f"foresight:{family}", hidden=json == "-") as progress:
        written = train_by_name(family, Path(path), seed, progress, data_dir)
    show({"model": str(written), "family": family, "seed": seed}, f"wrote {written}", json)


@app.command()
def coverage(
    networks: Annotated[str, typer.Option(help="Networks, families, files, look-alikes:FAMILY.")] = "look-alikes:all",
    selector: Annotated[str, typer.Option(help="foresight, foresight:free and so on.")] = "foresight",
    budget: Annotated[str, typer.Option(help="Numbers of surveys, comma-separated.")] = "5,20",
    studies: Annotated[int, typer.Option(min=1, help="Number of simulated studies of each network.")] = 200,
    p: ProbabilityOption = 0.1,
    seed: SeedOption = 10,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Check how often the range of the reach to expect contains the true reach; it should in nine of ten studies.

    Example: [bold]claim foresight coverage --networks look-alikes:zones --budget 5,20[/bold]
    """
    from claim.networks.catalogue import expand

    wanted, budgets = expand(names(networks)), [whole("--budget", number) for number in names(budget)]
    if not wanted or not budgets:
        raise InputError(f"--{'budget' if wanted else 'networks'} names nothing")
    rows: list[dict[str, Any]] = [
        {"network": name, "budget": surveys, **_covered(name, selector, surveys, studies, p, seed, data_dir)}
        for name in wanted
        for surveys in budgets
    ]
    shown = [
        {
            "network": row["network"],
            "surveys": row["budget"],
            "held": f"{100 * row['held']:.0f} %",
            "reached": f"{row['reached']:.1f}",
            "expected": f"{row['expected']:.1f}",
            "range": f"{row['low']:.1f} to {row['high']:.1f}",
        }
        for row in rows
    ]
    title = f"The reach to expect, means over {min(row['studies'] for row in rows)} studies or more per row"
    result = {"selector": selector, "p": p, "seed": seed, "coverage": rows}
    show(result, table(title, shown[0], shown, right=[*shown[0]][1:], title_justify="left"), json)


def _covered(
    name: str, selector: str, budget: int, studies: int, p: float, seed: int, data_dir: str | None
) -> dict[str, float]:
    """Simulate studies of one network, or of look-alikes with at most five studies each."""
    import numpy as np

    from claim.fitting.foresight import coverage, evaluate_studies
    from claim.fitting.random_graphs import look_alikes
    from claim.networks import load
    from claim.networks.catalogue import family_of
    from claim.randomness import named_seed
    from claim.selection.foresight import NAME, foresight_named

    if selector.partition(":")[0] != NAME:
        raise InputError(f"--selector must be {NAME} or one of its forms, which expect a reach; got {selector}")
    rng = np.random.default_rng(named_seed(seed, "coverage", name, budget))
    family: str | None = name.removeprefix(LOOK_ALIKES)
    if name.startswith(LOOK_ALIKES):
        each = min(STUDIES_EACH, studies)
        grounds = [(network, each) for network in look_alikes(str(family), -(-studies // each), rng)]
    else:
        network = load(name, data_dir=data_dir)
        grounds, family = [(network, studies)], family_of(network)
    chosen = foresight_named(selector, family, p=p)
    outcomes = evaluate_studies(grounds, {selector: chosen}, rng, [budget], [p])
    return coverage(outcomes[selector], chosen.ranges())
