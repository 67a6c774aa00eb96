"""``claim foresight``: train the models of the foresight selector, and check what it says to expect."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.common import DataDirOption, JsonOption, ProbabilityOption, SeedOption, check_json_target, names, show
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from claim.networks import Network

Family = Literal["retweet", "animal", "zones", "all", "free"]
LOOK_ALIKES = "look-alikes:"

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _foresight() -> None:
    """Train the selector that looks past the seen contacts, and check what it expects."""


@app.command()
def train(
    family: Annotated[Family, typer.Option(help="Whose training networks; free: the ranges of foresight:free.")],
    seed: SeedOption = 0,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="The model to write. Default: foresight.FAMILY.json here.")
    ] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Train the model of a family on its training networks and on look-alikes; takes some minutes.

    The model can be used at once: [bold]--selector foresight:foresight.retweet.json[/bold]

    Example: [bold]claim foresight train --family retweet --data-dir data[/bold]
    """
    path = out or f"foresight.{family}.json"
    check_json_target(path)
    check_json_target(json)
    from claim.cli.common import run_progress
    from claim.fitting.foresight import train_by_name

    with run_progress(f"foresight:{family}", hidden=json == "-") as progress:
        written = train_by_name(family, Path(path), seed, progress, data_dir)
    show({"model": str(written), "family": family, "seed": seed}, f"{written}: written", json)


@app.command()
def coverage(
    networks: Annotated[
        str, typer.Option(help="Comma-separated networks, families, files, or look-alikes:FAMILY for made-up ones.")
    ] = "look-alikes:all",
    selector: Annotated[str, typer.Option(help="foresight, foresight:free and so on.")] = "foresight",
    budget: Annotated[str, typer.Option(help="Surveys; comma-separated.")] = "5,20",
    studies: Annotated[int, typer.Option(min=1, help="Simulated studies of each network.")] = 200,
    p: ProbabilityOption = 0.1,
    seed: SeedOption = 10,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """How often the range of the reach to expect holds the true reach; it should nine times of ten.

    Example: [bold]claim foresight coverage --networks look-alikes:zones --budget 5,20[/bold]
    """
    check_json_target(json)
    wanted, budgets = _names_of(networks), [_whole(word) for word in names(budget)]
    if not wanted or not budgets:
        raise InputError(f"--{'budget' if wanted else 'networks'} names nothing")
    rows: list[dict[str, Any]] = []
    for name in wanted:
        for surveys in budgets:
            covered = _covered(name, selector, surveys, studies, p, seed, data_dir)
            rows.append({"network": name, "budget": surveys, **covered})
    show({"selector": selector, "p": p, "seed": seed, "coverage": rows}, _table(rows), json)


def _whole(word: str) -> int:
    if not word.isdecimal():
        raise InputError(f"--budget takes numbers of surveys, not {word}")
    return int(word)


def _names_of(networks: str) -> list[str]:
    from claim.networks.catalogue import expand

    return expand(names(networks))


def _covered(
    name: str, selector: str, budget: int, studies: int, p: float, seed: int, data_dir: str | None
) -> dict[str, float]:
    """Fresh studies of one network, or of as many look-alikes as there are studies for."""
    import numpy as np

    from claim.fitting.foresight import coverage, evaluate_studies
    from claim.networks.catalogue import family_of
    from claim.randomness import named_seed
    from claim.selection.foresight import NAME, foresight_named

    rng = np.random.default_rng(named_seed(seed, "coverage", name, budget))
    grounds = _grounds(name, studies, rng, data_dir)
    family = name.removeprefix(LOOK_ALIKES) if name.startswith(LOOK_ALIKES) else family_of(grounds[0][0])
    if selector.partition(":")[0] != NAME:
        raise InputError(f"only {NAME} says what reach to expect, not {selector}")
    chosen = foresight_named(selector, family, p=p)
    outcomes = evaluate_studies(grounds, {selector: chosen}, rng, [budget], [p])
    return coverage(outcomes[selector], chosen.ranges())


def _grounds(name: str, studies: int, rng: Any, data_dir: str | None) -> "list[tuple[Network, int]]":
    from claim.fitting.random_graphs import look_alikes
    from claim.networks import load

    if not name.startswith(LOOK_ALIKES):
        return [(load(name, data_dir=data_dir), studies)]
    each = min(5, studies)
    alike = look_alikes(name.removeprefix(LOOK_ALIKES), -(-studies // each), rng)
    return [(network, each) for network in alike]


def _table(rows: list[dict[str, Any]]) -> "Table":
    from rich.table import Table

    fewest = min(row["studies"] for row in rows)
    table = Table(title=f"The reach to expect, means over {fewest} studies or more a row", title_justify="left")
    table.add_column("network", overflow="fold")
    for column in ("surveys", "held", "reached", "expected"):
        table.add_column(column, justify="right")
    table.add_column("range", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["network"], str(row["budget"]), f"{100 * row['held']:.0f} %", f"{row['reached']:.1f}",
            f"{row['expected']:.1f}", f"{row['low']:.1f} to {row['high']:.1f}",
        )  # fmt: skip
    return table
