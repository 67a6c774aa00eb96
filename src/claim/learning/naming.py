"""Names of trained policies, taken apart without loading PyTorch.

``claim`` alone is the policy trained on the network's own family, or on all families where it has none;
``claim:retweet`` names the family; ``claim:retweet@20`` also the budget it was trained for, otherwise the nearest one
that is shipped. A name that ends in ``.json`` or ``.safetensors`` is a policy file.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from claim.errors import InputError
from claim.learning.config import VARIANTS

FOLDER = Path(__file__).parent / "policies"
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
