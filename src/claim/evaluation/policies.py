"""Policies by name: those that need no learning, and trained ones."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from claim.discovery import Policy, policy_named
from claim.errors import InputError
from claim.learning.config import VARIANTS
from claim.learning.naming import find_shipped, is_file, is_learned, shipped
from claim.networks import Network
from claim.networks.catalogue import family_of


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
        from claim.learning.shipped import learned_policy
    except ImportError as error:
        raise InputError(f"{name} is a trained policy and needs PyTorch: pip install 'claim[learning]'") from error
    policy = learned_policy(name, family, budget)
    return policy if is_file(name) else replace(policy, name=name)
