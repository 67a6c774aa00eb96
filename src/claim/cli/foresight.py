"""``claim foresight``: train the models of the foresight selector, and check the reach it says to expect."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from claim.cli.common import (
    DataDirOption,
    JsonOption,
    ProbabilityOption,
    SeedOption,
    WorkersOption,
    check_json_target,
    counted,
    names,
    show,
    table,
    whole,
)
from claim.errors import InputError

Family = Literal["all", "retweet", "animal", "villages", "zones"]
Entry = Literal["closed", "open"]
LOOK_ALIKES = "look-alikes:"
STUDIES_EACH = 5  # of each look-alike

_ABOUT = "Train the selector that counts contacts not yet seen, and check the reach it expects."
app = typer.Typer(name="foresight", no_args_is_help=True, help=_ABOUT)


@app.command()
def train(
    family: Annotated[Family, typer.Option(help="Family of the training networks.")] = "all",
    seed: SeedOption = 0,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Model file (else foresight.FAMILY.json).")] = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keeps finished parts for the same command to go on (else FILE.jobs)."),
    ] = None,
    workers: WorkersOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Fit a model to simulated studies on training networks and on random networks of many kinds.

    Takes about half an hour; the same command goes on where it was interrupted. The model can be used at once:
    [bold]--selector foresight:foresight.all.json[/bold]

    Example: [bold]claim foresight train --out mine.json[/bold]
    """
    path = Path(out or f"foresight.{family}.json")
    check_json_target(str(path))
    from claim.fitting.foresight import train_by_name

    with counted(f"foresight:{family}", hidden=json == "-") as progress:
        kept = None if folder is None else Path(folder)
        written = train_by_name(
            family, path, seed, kept, workers, lambda at: progress(round(100 * at.share), 100), data_dir
        )
    show({"model": str(written), "family": family, "seed": seed}, f"wrote {written}", json)


@app.command()
def coverage(
    networks: Annotated[str, typer.Option(help="Networks, families, files, look-alikes:FAMILY.")] = "look-alikes:all",
    selector: Annotated[str, typer.Option(help="foresight, foresight:1 and so on.")] = "foresight",
    budget: Annotated[str | None, typer.Option(help="Numbers of surveys, comma-separated; else 5,20.")] = None,
    entry: Annotated[Entry, typer.Option(help="open: new people are interviewed too.")] = "closed",
    interviews: Annotated[
        str | None, typer.Option(help="With --entry open: numbers of interviews; else 10,25.")
    ] = None,
    hub_question: Annotated[
        float | None, typer.Option(metavar="SIGMA", help="Ask who knows the most people, with this much noise.")
    ] = None,
    population: Annotated[
        str, typer.Option(help="The number of people given: known, known:FACTOR, or estimated.")
    ] = "estimated",
    leaders: Annotated[int, typer.Option("--leaders", "-k", min=1, help="Leaders chosen at the end.")] = 10,
    studies: Annotated[int, typer.Option(min=1, help="Number of simulated studies of each network.")] = 200,
    p: ProbabilityOption = 0.1,
    seed: SeedOption = 10,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Check how often the range of the reach to expect contains the true reach; it should in nine of ten studies.

    Example: [bold]claim foresight coverage --networks zone2,zone3 --population known[/bold]
    """
    from claim.fitting.reach import population_factor
    from claim.networks.catalogue import expand

    opened = entry == "open"
    if (budget if opened else interviews) is not None:
        raise InputError("--budget counts surveys of closed studies, --interviews those of --entry open")
    option, given, usual = ("interviews", interviews, "10,25") if opened else ("budget", budget, "5,20")
    wanted, budgets = (
        expand(names(networks)),
        [whole(f"--{option}", each) for each in names(usual if given is None else given)],
    )
    if not wanted or not budgets:
        raise InputError(f"--{option if wanted else 'networks'} names nothing")
    population_factor(population)
    kinds = {"entry": entry, "hub_question": hub_question, "population": population, "leaders": leaders, "p": p}
    rows: list[dict[str, Any]] = [
        {"network": name, option: number, **_covered(name, selector, number, studies, kinds, seed, data_dir)}
        for name in wanted
        for number in budgets
    ]
    shown = [
        {
            "network": row["network"],
            "interviews" if opened else "surveys": row[option],
            "held": f"{100 * row['held']:.0f} %",
            "reached": f"{row['reached']:.1f}",
            "expected": f"{row['expected']:.1f}",
            "range": f"{row['low']:.1f} to {row['high']:.1f}",
            "high / low": f"{row['ratio']:.1f}",
            "error": f"{100 * row['error']:.0f} %",
        }
        for row in rows
    ]
    title = f"The reach to expect over {min(row['studies'] for row in rows)} studies or more per row"
    result = {"selector": selector, **kinds, "seed": seed, "coverage": rows}
    note = "Means of reached, expected and range; medians of high / low and of the error of the expected reach."
    show(result, table(title, shown[0], shown, right=[*shown[0]][1:], title_justify="left", caption=note), json)


def _covered(
    name: str, selector: str, budget: int, studies: int, kinds: dict[str, Any], seed: int, data_dir: str | None
) -> dict[str, float]:
    """Simulate studies of one network, or of look-alikes with at most five studies each."""
    import numpy as np

    from claim.fitting.random_graphs import look_alikes
    from claim.fitting.reach import coverage
    from claim.fitting.studies import StudyPlan, simulated_studies
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
    open_share, p = float(kinds["entry"] == "open"), kinds["p"]
    plan = StudyPlan(open_share, (budget,), (budget,), (kinds["hub_question"],), (p,))
    chosen = foresight_named(selector, family, p=p)
    done = [study for network, count in grounds for study in simulated_studies(network, count, rng, plan)]
    return coverage(done, chosen, kinds["leaders"], kinds["population"], seed)
