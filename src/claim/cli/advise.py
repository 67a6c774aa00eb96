"""``claim advise``: whom to survey next, for teams that keep their own files."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from claim.cli.common import JsonOption, SeedOption, listed, people, report_dropped, say, show
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from claim.discovery import Discovered, Policy
    from claim.networks import Network

SurveyedOption = Annotated[
    str, typer.Option(metavar="A,B", help="Who was surveyed, in order. For real people: codes, or --surveyed-file.")
]
SurveyedFileOption = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Who was surveyed, one a line of a file or of standard input (-)."),
]
RefusedOption = Annotated[str, typer.Option(metavar="A,B", help="Who refused; they are not recommended.")]
RefusedFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="Who refused, one a line.")]
StartOption = Annotated[
    str, typer.Option(metavar="A,B", help="Who of them was known at the outset. Default: the first five of them.")
]
StartFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="Who was known at the outset, one a line.")]
BudgetOption = Annotated[
    int, typer.Option(min=0, help="Surveys of the whole study; a shipped policy is that of the nearest budget.")
]


def advise(
    known: Annotated[str, typer.Option(metavar="FILE", help="The ties named so far, one a line.")],
    surveyed: SurveyedOption = "",
    surveyed_file: SurveyedFileOption = None,
    refused: RefusedOption = "",
    refused_file: RefusedFileOption = None,
    start: StartOption = "",
    start_file: StartFileOption = None,
    policy: Annotated[
        str, typer.Option(help="The rule or trained policy to follow; claim evaluate compares them.")
    ] = "scout",
    budget: BudgetOption = 5,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many people to list.")] = 10,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Rank whom to survey next.

    Example: [bold]claim advise --known ties.csv --surveyed P1,P2 --policy scout[/bold]
    """
    import numpy as np

    from claim.discovery.reasons import reasons_of
    from claim.networks import load

    lists = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file)
    graph = load(known)
    report_dropped(graph)
    if graph.directed:
        say(f"{known}: contacts are taken to go both ways, whichever of the two named the other")
    rule = _policy(policy, graph, budget)
    seen = study_so_far(graph, rule, lists)
    ranking = [
        {
            "rank": rank,
            "person": graph.labels[person],
            "named_by": [graph.labels[namer] for namer in seen.surveyed_contacts(person)],
            "reasons": reasons_of(rule, seen, person, lambda who: str(graph.labels[who])),
        }
        for rank, person in enumerate(rule.choose(seen, np.random.default_rng(seed), count), 1)
    ]
    result: dict[str, Any] = {"policy": policy, "surveyed": len(seen.surveyed), "people": len(seen), "ranking": ranking}
    show(result, _shown(seen, result), json)


def _policy(name: str, graph: "Network", budget: int) -> "Policy":
    """The rule or trained policy of a name."""
    from claim.discovery import is_reference, policy_named
    from claim.registry import is_learned

    if is_learned(name):
        from claim.registry import policy_for  # only here, since it takes longer to load than to advise

        return policy_for(name, graph, budget)
    rule = policy_named(name)
    if is_reference(rule):
        raise InputError(f"{name} is a reference that must see the whole network; it cannot advise anybody")
    return rule


class Lists(NamedTuple):
    """Labels of the people who were surveyed, in order, who refused, and who were known at the outset."""

    surveyed: list[str]
    refused: list[str]
    start: list[str]

    @classmethod
    def given(
        cls,
        surveyed: str,
        surveyed_file: str | None,
        refused: str,
        refused_file: str | None,
        start: str | None,
        start_file: str | None,
    ) -> "Lists":
        """Read the options; each list is given on the command line or as a file, one of which may be standard input."""
        if [surveyed_file, refused_file, start_file].count("-") > 1:
            raise InputError("standard input can be read for one list only: give the others as files")
        return cls(
            listed("--surveyed", surveyed, surveyed_file),
            listed("--refused", refused, refused_file),
            listed("--start", start, start_file),
        )


def study_so_far(graph: "Network", rule: "Policy | None", lists: Lists) -> "Discovered":
    """What a study has seen; unless said, it began with the first it surveyed, as many as the policy is used to.

    Who was there at the outset sets the goal of a trained policy, whose turn it is in CHANGE, and what foresight makes
    of people found on the way.
    """
    from claim.discovery import Discovered
    from claim.learning.config import Config

    answered, unwilling = asked(graph, lists)
    usual = getattr(rule, "config", Config()).start
    first = people(graph, lists.start) if lists.start else answered[:usual]
    stranger = next((who for who in first if who not in answered), None)
    if stranger is not None:
        raise InputError(f"{graph.labels[stranger]} was known at the outset and has to be among --surveyed")
    seen = Discovered.from_network(graph, first, unwilling)
    for person in answered:
        seen.record_survey(person)
    return seen


def asked(graph: "Network", lists: Lists) -> tuple[list[int], list[int]]:
    """Who was surveyed and who refused, by label; nobody can have done both."""
    answered, unwilling = people(graph, lists.surveyed), people(graph, lists.refused)
    both = set(answered) & set(unwilling)
    if both:
        raise InputError(f"{graph.labels[min(both)]} both was surveyed and refused")
    return answered, unwilling


def _shown(seen: "Discovered", result: dict[str, Any]) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table

    from claim.registry import is_learned

    if not result["ranking"]:
        return "nobody is left to survey: everybody named so far was surveyed or refused"
    table = Table(title=f"Whom to survey next ({result['policy']}; {len(seen.surveyed)} surveyed, {len(seen)} known)")
    table.add_column("rank", justify="right")
    table.add_column("person")
    table.add_column("why")
    for row in result["ranking"]:
        table.add_row(str(row["rank"]), str(row["person"]), "; ".join(row["reasons"]))
    if is_learned(result["policy"]):
        return Group(table, f"Why {result['policy']} ranks them so is what claim explain says.")
    return table
