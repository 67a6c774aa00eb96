"""Foresight: leaders chosen by their expected reach on the whole network, not only on the seen part."""

from pathlib import Path
from typing import Any

from claim.errors import InputError
from claim.networks import Network
from claim.networks.catalogue import LOOK_ALIKES
from claim.selection.foresight.model import FREE, read_model, shipped_names
from claim.selection.foresight.selector import Expected as Expected
from claim.selection.foresight.selector import FittedForesight as FittedForesight
from claim.selection.foresight.selector import FreeForesight as FreeForesight
from claim.selection.foresight.selector import shown_reasons as shown_reasons

NAME = "foresight"
ANY = "any"  # the model for networks of any kind
FIRST = "1"  # the models of the first version


def check_foresight(known: Network, name: str = NAME) -> None:
    """Raise an error for contacts that foresight cannot estimate the reach from."""
    if known.directed or known.probabilities is not None:
        raise InputError(f"{name} takes contacts that go both ways and one probability for all of them")


def foresight_named(name: str, family: str | None = None, **settings: Any) -> FreeForesight:
    """The selector of a name, with the settings of :class:`FreeForesight`.

    ``foresight`` is fitted to networks of many kinds, ``foresight:mine.json`` is the model of that file, and
    ``foresight:free`` has none. The models of earlier versions are ``foresight:retweet`` and so on; ``foresight:1``
    takes the one of the network's ``family`` if it is known, else none.
    """
    form = name.partition(":")[2] or (ANY if ANY in shipped_names() else FIRST)
    if form == FIRST:
        own = LOOK_ALIKES.get(family or "", family)
        form = own if own in shipped_names() else FREE
    if form == FREE:
        return FreeForesight(**settings)
    if form.endswith(".json"):
        return FittedForesight(**settings, family=form, model=read_model(Path(form)))
    if form not in shipped_names():
        known = ", ".join(f"{NAME}:{each}" for each in (FIRST, FREE, *shipped_names()))
        raise InputError(f"no selector is called {name!r} (known: {NAME}, {known}, or {NAME}:FILE.json)")
    return FittedForesight(**settings, family=form)
