"""Foresight: leaders chosen by their expected reach on the whole network, not only on the seen part."""

from pathlib import Path

from claim.errors import InputError
from claim.networks import Network
from claim.selection.foresight.model import FREE, read_model, shipped_names
from claim.selection.foresight.selector import Expected, FittedForesight, Foresight, FreeForesight, Why, told
from claim.selection.greedy import Ties

__all__ = [
    "NAME",
    "Expected",
    "FittedForesight",
    "Foresight",
    "FreeForesight",
    "Why",
    "check_foresight",
    "foresight_named",
    "told",
]

NAME = "foresight"
# The family of a network, and the model that was trained for networks of that kind.
MODEL_OF = {
    "retweet": "retweet",
    "retweet-like": "retweet",
    "animal": "animal",
    "vole-like": "animal",
    "zones": "zones",
}


def check_foresight(known: Network, name: str = NAME) -> None:
    """Refuse ties that the reach to expect cannot be told from."""
    if known.directed or known.probabilities is not None:
        raise InputError(f"{name} takes contacts that go both ways and one probability for all of them")


def foresight_named(
    name: str,
    p: float = 0.1,
    samples: int = 1000,
    ties: Ties = "random",
    family: str | None = None,
    attendance: float = 1.0,
    p_range: tuple[float, ...] = (),
) -> FreeForesight | FittedForesight:
    """``foresight`` takes the model of the network's family where it is known; ``foresight:retweet`` says which.

    ``foresight:mine.json`` takes the model of that file.
    """
    _, _, form = name.partition(":")
    form = form or MODEL_OF.get(family or "", FREE)
    if ":" not in name and form not in shipped_names():
        form = FREE
    if form == FREE:
        return FreeForesight(p, samples, ties, attendance, p_range)
    if form.endswith(".json"):
        return FittedForesight(p, samples, ties, attendance, p_range, form, read_model(Path(form)))
    if form not in shipped_names():
        known = ", ".join(f"{NAME}:{each}" for each in (FREE, *shipped_names()))
        raise InputError(f"no selector is called {name!r} (known: {NAME}, {known}, or {NAME}:FILE.json)")
    return FittedForesight(p, samples, ties, attendance, p_range, form)
