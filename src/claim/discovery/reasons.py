"""What speaks for surveying a person, in plain words, from what is seen and nothing else."""

from collections.abc import Callable

from claim.discovery.discovered import Discovered

FEW = 2  # contacts: somebody who knows nobody else points at a hub
MANY = 10


def reasons(discovered: Discovered, person: int, name: Callable[[int], str]) -> list[str]:
    """Up to three short reasons; ``name`` says how people are called."""
    namers = discovered.surveyed_contacts(person)
    if not namers:
        return ["nobody surveyed has named this person yet"]
    found = [_named_by([name(namer) for namer in namers])]
    lonely = [namer for namer in namers if discovered.degree(namer) <= FEW]
    if lonely:
        found.append(f"{name(lonely[0])} knows almost nobody else, so this is likely the hub")
    popular = max(namers, key=discovered.degree)
    if discovered.degree(popular) >= MANY:
        found.append(f"{name(popular)} is well connected ({discovered.degree(popular)} contacts)")
    return found


def _named_by(names: list[str]) -> str:
    if len(names) == 1:
        return f"named by {names[0]}"
    if len(names) <= 3:
        return f"named by {', '.join(names[:-1])} and {names[-1]}"
    return f"named by {len(names)} surveyed people"
