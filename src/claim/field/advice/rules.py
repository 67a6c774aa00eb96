"""The rules a study can follow to say whom to survey next: by name, trained ones too where they can be used."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from claim.discovery import Policy, is_reference, policy_named
from claim.discovery.policies import POLICIES
from claim.errors import ClaimError, InputError
from claim.field.study.setup import DEFAULT_POLICY
from claim.io.files import sha256_of
from claim.registry import EVERY_FAMILY, find_shipped, is_file, is_learned, shipped

MODEL_FREE = (
    "scout", "degree+inverse", "change", "inverse-degree", "max-degree", "max-contact", "snowball", "random",
)  # fmt: skip
TRAINED = "claim"
NEEDED = ("torch", "safetensors")  # by a trained policy


@dataclass(frozen=True)
class Rule:
    """A policy, and the hash of its file if it was trained."""

    policy: Policy
    hash: str | None = None

    def __post_init__(self) -> None:
        if is_reference(self.policy):
            raise InputError(f"{self.policy.name} must see the whole network; it cannot advise anybody")


def offered() -> tuple[str, ...]:
    """The rules to choose from on this machine, the default first."""
    free = [name for name in MODEL_FREE if name in POLICIES]
    return tuple(dict.fromkeys((DEFAULT_POLICY, *free, *_trained())))


def check_rule(name: str, budget: int) -> None:
    """Refuse a rule that is not there, must not advise or cannot be used on this machine, without loading it."""
    if not is_learned(name):
        Rule(policy_named(name))
        return
    if is_file(name):
        raise InputError("a study follows a rule by its name, not a policy file")
    find_shipped(name, None, budget)
    if not _can_load():
        raise InputError(f"{name} is a trained rule and needs PyTorch (pip install 'claim[learning]'): choose another")


def rule_named(name: str, budget: int) -> Rule:
    """The rule of that name; a trained one is that for the nearest budget."""
    check_rule(name, budget)
    if not is_learned(name):
        return Rule(policy_named(name))
    from claim.learning.policy import learned_policy

    weights = find_shipped(name, None, budget).stem
    policy = replace(learned_policy(name, None, budget), name=name)
    return Rule(policy, _hash(weights.with_name(f"{weights.name}.safetensors")))


def prepare(name: str, budget: int) -> None:
    """Load a trained rule ahead, which takes seconds; whatever is wrong with it is said when it is asked."""
    if is_learned(name):
        with suppress(ClaimError):
            rule_named(name, budget)


def _trained() -> list[str]:
    families = dict.fromkeys(each.family for each in shipped() if each.variant == TRAINED) if _can_load() else {}
    return [TRAINED if family == EVERY_FAMILY else f"{TRAINED}:{family}" for family in families]


def _can_load() -> bool:
    return all(find_spec(module) is not None for module in NEEDED)


@cache
def _hash(path: Path) -> str:
    return sha256_of(path)
