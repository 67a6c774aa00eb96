"""``claim networks``: what is known, where it is, and how to get it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import (
    DataDirOption,
    DirectedOption,
    EdgeProbabilitiesOption,
    JsonOption,
    counted,
    loaded,
    names,
    say,
    show,
    table,
)
from claim.errors import InputError
from claim.io.files import check_writable

if TYPE_CHECKING:
    from rich.console import Group

app = typer.Typer(name="networks", invoke_without_command=True)


@app.callback()
def list_networks(context: typer.Context, data_dir: DataDirOption = None, json: JsonOption = None) -> None:
    """List the known networks, or fetch the public ones.

    Every network is listed with its size, whether it is there, where it comes from and how to get it.

    Example: [bold]claim networks[/bold]
    """
    if context.invoked_subcommand is not None:
        if data_dir is not None or json is not None:
            raise InputError(f"--data-dir and --json go after {context.invoked_subcommand}")
        return
    from claim.networks.catalogue import KNOWN_NETWORKS, locate

    rows = []
    for known in KNOWN_NETWORKS:
        path = locate(known, data_dir)
        made = known.make() if known.make is not None else None
        row: dict[str, Any] = {name: getattr(known, name) for name in ("name", "family", "role", "kind")}
        row |= {"people": known.people, "edges": known.edges} if made is None else {"people": made.n, "edges": made.m}
        row |= {"present": made is not None or path is not None, "path": str(path) if path else None}
        rows.append(row | {"how_to_get": known.how_to_get, "origin": known.origin})
    show({"networks": rows}, _table(rows), json)


@app.command()
def fetch(
    wanted: Annotated[str, typer.Argument(metavar="NAMES", help="Comma-separated networks, families or all.")] = "all",
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Download public networks from their publisher into the data directory.

    Example: [bold]claim networks fetch israel,kcs[/bold]
    """
    from claim.networks.catalogue import EVERY_FAMILY, PUBLIC_NETWORKS, data_directories, expand
    from claim.networks.fetch import FetchStatus, fetchable
    from claim.networks.fetch import fetch as fetch_network

    if wanted == EVERY_FAMILY:
        chosen = [known for known in PUBLIC_NETWORKS if known.downloads]
    else:
        chosen = [fetchable(name) for name in expand(names(wanted))]
    if not chosen:
        raise InputError("no network to fetch: give names or families, or all")
    destination = data_directories(data_dir)[0]
    results: list[dict[str, Any]] = []
    for known in chosen:
        with counted(known.name, json == "-", in_bytes=True) as progress:
            found = fetch_network(known, destination, progress=progress)
        outcome = {"problem": found.problem} if found.status is FetchStatus.FAILED else {"path": str(found.path)}
        results.append({"name": known.name, "status": found.status.value, **outcome})
    failed = [result for result in results if "problem" in result]
    there = [f"{each['name']}: {each['status']}, {each['path']}" for each in results if each not in failed]
    if json is not None or there:
        show({"fetched": results}, "\n".join(there), json)
    for each in failed:
        say(f"claim: {each['name']}: {each['problem']}")
    if failed:
        raise typer.Exit(2)


@app.command()
def convert(
    network: Annotated[str, typer.Argument(metavar="NETWORK", help="A network by name or file.")],
    target: Annotated[str, typer.Argument(metavar="FILE", help="A file to write, NAME.claimnet.")],
    data_dir: DataDirOption = None,
    directed: DirectedOption = False,
    edge_probabilities: EdgeProbabilitiesOption = False,
) -> None:
    """Write a network in a binary form that is loaded at once, however large it is.

    Example: [bold]claim networks convert ties.edges.gz ties.claimnet[/bold]
    """
    from claim.networks.formats import binary

    path = Path(target)
    if path.suffix != binary.ENDING:
        raise InputError(f"{target}: the file to write must end in {binary.ENDING}")
    if not path.parent.is_dir():
        raise InputError(f"{target}: there is no folder {path.parent} to write to")
    check_writable(path.parent)
    made = loaded(network, data_dir=data_dir, directed=directed or None, probabilities=edge_probabilities)
    binary.write(made, path)
    say(f"{target}: {made.n} people, {made.m} edges, {path.stat().st_size >> 20} MiB")


def _table(rows: list[dict[str, Any]]) -> "Group":
    from rich import box
    from rich.console import Group
    from rich.text import Text

    where = "where, or how to get it"
    columns = ["name", "family", "role", "people", "edges", "there", where]
    there = {True: "yes", False: "no"}
    shown = [{**row, "there": there[row["present"]], where: row["path"] or row["how_to_get"]} for row in rows]
    look: dict[str, Any] = {"title_justify": "left", "box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0)}
    origins = dict.fromkeys(f"{row['family']}: {row['origin']}" for row in rows)
    made = table("Known networks", columns, shown, right=("people", "edges"), **look)
    return Group(made, *(Text(origin, style="dim") for origin in origins))
