"""Policies by name: those that need no learning, shipped trained ones, and policy files."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from claim.discovery import Policy, policy_named
from claim.errors import InputError
from claim.learning.config import VARIANTS
from claim.networks import Network
from claim.networks.catalogue import family_of

FOLDER = Path(__file__).parent / "learning" / "policies"
EVERY_FAMILY = "all"
LOOK_ALIKES = {"retweet-like": "retweet", "vole-like": "animal"}
_NAME = re.compile(r"(?P<variant>[a-z-]+)(:(?P<family>[a-z-]+))?(@(?P<budget>\d+))?")


@dataclass(frozen=True)
class Shipped:
    """A policy that comes with the software."""

    variant: str
    family: str
    budget: int

    @property
    def stem(self) -> Path:
        """Where its files are, without their endings."""
        return FOLDER / f"{self.variant}.{self.family}.{self.budget}"


def is_learned(name: str) -> bool:
    """Whether a name means a trained policy: a variant, or a policy file."""
    found = _NAME.fullmatch(name)
    return is_file(name) or (found is not None and found["variant"] in VARIANTS)


def is_file(name: str) -> bool:
    """Whether a name is that of a policy file."""
    return name.endswith((".json", ".safetensors"))


def shipped() -> list[Shipped]:
    """All policies that come with the software."""
    stems = (path.stem.split(".") for path in sorted(FOLDER.glob("*.json")))
    return [Shipped(variant, family, int(budget)) for variant, family, budget in stems]


def find_shipped(name: str, family: str | None, budget: int) -> Shipped:
    """The shipped policy that a name means on a network of a family (if known) and for a budget."""
    found = _NAME.fullmatch(name)
    candidates = [] if found is None else [each for each in shipped() if each.variant == found["variant"]]
    if found is None or not candidates:
        raise InputError(f"no trained policy is shipped under the name {name!r}")
    families = list(dict.fromkeys(each.family for each in candidates))
    own = LOOK_ALIKES.get(family or "", family)
    wanted = found["family"] or (own if own in families else EVERY_FAMILY)
    if wanted not in families:
        raise InputError(f"no {found['variant']} policy is shipped for {wanted!r} (there are: {', '.join(families)})")
    asked = int(found["budget"] or budget)
    nearest = min(
        (each for each in candidates if each.family == wanted),
        key=lambda each: (abs(each.budget - asked), each.budget),
    )
    if found["budget"] and nearest.budget != asked:
        raise InputError(f"{found['variant']}:{wanted} is not shipped for a budget of {asked}")
    return nearest


def check_policy(name: str) -> None:
    """Refuse a name that means nothing, before anything is computed."""
    if not is_learned(name):
        policy_named(name, VARIANTS)
    elif is_file(name):
        if not Path(name).exists():
            raise InputError(f"{name}: no such policy file")
    elif ":" in name or not shipped():  # without a family, which one is meant depends on the network
        find_shipped(name, None, budget=5)


def is_marked(name: str, mark: Callable[[Policy], bool]) -> bool:
    """Whether the policy of a name is a reference or draws its own start; no trained one is or does."""
    return not is_learned(name) and mark(policy_named(name))


def policy_for(name: str, network: Network, budget: int) -> Policy:
    """The policy of a name on a network; a trained one is that of the network's family."""
    return policy_of(name, family_of(network), budget)


def policy_of(name: str, family: str | None, budget: int) -> Policy:
    """The policy of a name for a family (if known) and so many surveys; a trained one is that of the nearest budget.

    One from a file keeps the name on its card: random numbers follow from names, and not from where a file lies.
    """
    if not is_learned(name):
        return policy_named(name)
    try:
        from claim.learning.policy import learned_policy
    except ImportError as error:
        raise InputError(f"{name} is a trained policy and needs PyTorch: pip install 'claim[learning]'") from error
    policy = learned_policy(name, family, budget)
    return policy if is_file(name) else replace(policy, name=name)
