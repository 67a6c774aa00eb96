"""``claim advise``: whom to survey next, for teams that keep their own files."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import JsonOption, SeedOption, people, report_dropped, show
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from claim.discovery import Discovered
    from claim.networks import Network


def advise(
    known: Annotated[str, typer.Option(metavar="FILE", help="The ties named so far, one a line.")],
    surveyed: Annotated[str, typer.Option(metavar="A,B", help="Who was surveyed.")] = "",
    refused: Annotated[str, typer.Option(metavar="A,B", help="Who refused; they are not recommended.")] = "",
    policy: Annotated[str, typer.Option(help="The rule to follow; claim evaluate compares them.")] = "degree+inverse",
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many people to list.")] = 10,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Rank whom to survey next.

    Example: [bold]claim advise --known ties.csv --surveyed ana,ben --policy degree+inverse[/bold]
    """
    import numpy as np

    from claim.discovery import Discovered, is_reference, policy_named
    from claim.discovery.reasons import reasons
    from claim.networks import load

    rule = policy_named(policy)
    if is_reference(rule):
        raise InputError(f"{policy} is a reference that must see the whole network; it cannot advise anybody")
    graph = load(known)
    report_dropped(graph)
    seen = Discovered.from_network(graph, *asked(graph, surveyed, refused))
    ranking = [
        {
            "rank": rank,
            "person": graph.labels[person],
            "named_by": [graph.labels[namer] for namer in seen.surveyed_contacts(person)],
            "reasons": reasons(seen, person, lambda who: str(graph.labels[who])),
        }
        for rank, person in enumerate(rule.choose(seen, np.random.default_rng(seed), count), 1)
    ]
    result: dict[str, Any] = {"policy": policy, "surveyed": len(seen.surveyed), "people": len(seen), "ranking": ranking}
    show(result, _table(seen, result), json)


def asked(graph: "Network", surveyed: str, refused: str) -> tuple[list[int], list[int]]:
    """Who was surveyed and who refused, by label; nobody can have done both."""
    answered, unwilling = people(graph, surveyed), people(graph, refused)
    both = set(answered) & set(unwilling)
    if both:
        raise InputError(f"{graph.labels[min(both)]} both was surveyed and refused")
    return answered, unwilling


def _table(seen: "Discovered", result: dict[str, Any]) -> "Table | str":
    from rich.table import Table

    if not result["ranking"]:
        return "nobody is left to survey: everybody named so far was surveyed or refused"
    table = Table(title=f"Whom to survey next ({result['policy']}; {len(seen.surveyed)} surveyed, {len(seen)} known)")
    table.add_column("rank", justify="right")
    table.add_column("person")
    table.add_column("why")
    for row in result["ranking"]:
        table.add_row(str(row["rank"]), str(row["person"]), "; ".join(row["reasons"]))
    return table
