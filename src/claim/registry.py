"""Policies and selectors: your own objects, or names.

A name is one of the built-in rules, a mix of one with new people (``mix:0.6:scout``), one you registered
(:func:`register_policy`) or installed (entry points ``claim.policies`` and ``claim.selectors``), a class as
``package.module:Class``, a shipped trained policy (``claim``, ``claim:retweet@20``) or a policy file.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from claim.discovery import (
    POLICIES,
    Policy,
    Selector,
    draws_own_start,
    is_reference,
    only_open,
    undirected_ic_only,
)
from claim.discovery.policies import unknown_policy
from claim.discovery.policies.open_studies import Mix
from claim.discovery.policies.quota import Quota, quota_parts
from claim.discovery.simulation import Entry
from claim.errors import InputError, install_command
from claim.learning.config import TRAINED
from claim.networks import Network
from claim.networks.catalogue import EVERY_FAMILY, LOOK_ALIKES

if TYPE_CHECKING:
    from claim.cascades import Model

PolicyLike: TypeAlias = str | Policy | type[Policy]
SelectorLike: TypeAlias = str | Selector | type[Selector]

DEFAULT = "scout"  # advises where no other policy is named
OPEN_DEFAULT = "mix:best"  # the same in an open study
MIX = "mix"
QUOTA = "quota"
FOLDER = Path(__file__).parent / "learning" / "policies"
SELECTORS = ("greedy", "ris", "degree", "degree-discount", "pagerank", "random", "foresight")
NEEDED = ("torch", "safetensors")  # by trained policies
_NAME = re.compile(r"(?P<variant>[a-z-]+)(:(?P<family>[a-z-]+))?(@(?P<budget>\d+))?")
_OWN_NAME = re.compile(r"[\w+-]+")
_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_registered: dict[str, dict[str, Any]] = {"policies": {}, "selectors": {}}


# Your own ------------------------------------------------------------------------------------------------------------


def register_policy(name: str, policy: Policy | type[Policy]) -> None:
    """Make a policy (an object, or a class without arguments) available by name, also in worker processes."""
    _register("policies", name, policy, (*POLICIES, *TRAINED))


def register_selector(name: str, selector: Selector | type[Selector]) -> None:
    """Make a selector (an object, or a class without arguments) available by name, also in worker processes."""
    _register("selectors", name, selector, SELECTORS)


def _register(kind: str, name: str, given: Any, taken: Iterable[str]) -> None:
    if not isinstance(name, str) or not _OWN_NAME.fullmatch(name):
        raise InputError(f"a name must be letters, digits and -, + or _, got {name!r}")
    if name in taken:
        raise InputError(f"{name} is the name of one that comes with the package: register yours under another name")
    _registered[kind][name] = _checked(kind, given)


def name_of(thing: PolicyLike | SelectorLike) -> str:
    """What a policy or selector is called in tables: its name, or the name of its class."""
    if isinstance(thing, str):
        return thing
    own = getattr(thing, "name", None)
    return own if isinstance(own, str) else (thing if isinstance(thing, type) else type(thing)).__name__


def reference_of(thing: PolicyLike | SelectorLike) -> str:
    """What a policy or selector is called on the command line: its name, or ``package.module:Class``."""
    if isinstance(thing, str) or name_of(thing) in POLICIES:
        return name_of(thing)
    kind = thing if isinstance(thing, type) else type(thing)
    return f"{kind.__module__}:{kind.__qualname__}"


def own_object(kind: str, given: Any) -> Any | None:
    """The object of a policy or selector (``kind`` is "policies" or "selectors").

    None for the name of a trained policy or of a selector that comes with the package: they depend on the network.
    """
    if not isinstance(given, str):
        return _checked(kind, given)
    if given in _registered[kind]:
        return _named(_registered[kind][given], given)
    others = (*TRAINED, *SELECTORS, MIX, QUOTA)
    if is_own_class(given) and not is_learned(given) and given.partition(":")[0] not in others:
        return _checked(kind, own_class(given))
    for entry in _installed(kind, tuple(sys.path)):
        if entry.name == given:
            return _named(_checked(kind, entry.load()), given)
    return POLICIES.get(given) if kind == "policies" else None


@cache
def _installed(kind: str, path: tuple[str, ...]) -> EntryPoints:
    """The policies or selectors that installed packages offer; reads a file of every package on the ``path``."""
    return entry_points(group=f"claim.{kind}")


def _checked(kind: str, given: Any) -> Any:
    """An object that does what is asked of it; a class is called without arguments."""
    made = given() if isinstance(given, type) else given
    needed, what = ("choose", "policy") if kind == "policies" else ("select", "selector")
    if not callable(getattr(made, needed, None)):
        wanted = "choose(discovered, rng, count)" if kind == "policies" else "select(discovered, k, rng)"
        raise InputError(f"a {what} is a name or an object with {wanted}, got {type(given).__name__}")
    return made


def _named(thing: Any, name: str) -> Any:
    return thing if name_of(thing) == name else _Named(thing, name)


class _Named:
    """A policy or selector under the name it was registered with."""

    def __init__(self, thing: Any, name: str) -> None:
        self.name, self._thing = name, thing

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") or attribute == "_thing":  # asked for while it is unpickled
            raise AttributeError(attribute)
        return getattr(self._thing, attribute)


def is_own_class(name: str) -> bool:
    """Whether a name is of the form ``package.module:Class``."""
    return _CLASS.fullmatch(name) is not None


def own_class(name: str) -> Any:
    """``package.module:Class``, found as Python would find it from the working directory."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{name}: {error}") from error
    if "site-packages" not in (getattr(sys.modules[module], "__file__", None) or ""):
        import cloudpickle

        cloudpickle.register_pickle_by_value(sys.modules[module])  # workers need not have the file
    return found


# Policies by name ----------------------------------------------------------------------------------------------------


def find_policy(given: PolicyLike, family: str | None = None, budget: int = 5, p: float = 0.1) -> Policy:
    """The policy itself; a trained one is that of the network's ``family`` (if known) and of the nearest budget.

    One from a file keeps the name on its card: random numbers follow from names, and not from where a file lies.
    ``budget`` is the number of surveys, or of all interviews of an open study.
    """
    own = own_object("policies", given)
    if own is not None:
        planned = getattr(own, "for_study", None)
        return own if planned is None else planned(budget, p)  # type: ignore[no-any-return]
    name = str(given)
    check_policy(name)
    if is_mix(name):
        share, among_named = mix_parts(name)
        other = find_policy(among_named, family, budget, p)
        return Mix(share, other, name, budget)
    if is_quota(name):
        shares, ranking = quota_parts(name)
        return Quota(find_policy(ranking, family, budget, p), shares, name)
    from claim.learning.policy import learned_policy

    policy = learned_policy(name, family, budget)
    return policy if is_file(name) else replace(policy, name=name)


def check_policy(given: PolicyLike) -> None:
    """Refuse what is no policy, before anything is computed."""
    if own_object("policies", given) is not None:
        return
    name = str(given)
    if is_mix(name):
        check_policy(mix_parts(name)[1])
        return
    if is_quota(name):
        check_policy(quota_parts(name)[1])
        return
    if is_file(name):
        if not Path(name).exists():
            raise InputError(f"{name}: no such policy file")
    elif not is_learned(name):
        raise unknown_policy(name, [*POLICIES, *_registered["policies"], *TRAINED])
    elif ":" in name or not shipped():  # without a family, which one is meant depends on the network
        find_shipped(name, None, budget=5)
    if not can_load_trained():
        raise InputError(f"{name} is a trained policy and needs PyTorch: {install_command('learning')}")


def is_mix(name: str) -> bool:
    """Whether a name means a mix of new people and those that another policy chooses."""
    return name.partition(":")[0] == MIX


def is_quota(name: str) -> bool:
    """Whether a name means that another policy is steered by shares by group."""
    return name.partition(":")[0] == QUOTA


def mix_parts(name: str) -> tuple[float | None, str]:
    """The share and the policy of ``mix:SHARE:POLICY``; the share is None for ``mix:best``."""
    if name == f"{MIX}:best":
        return None, DEFAULT
    _, share, policy = (*name.split(":", 2), "", "")[:3]
    try:
        number = float(share)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1 or not policy:
        raise InputError(f"a mix is {MIX}:SHARE:POLICY with a share from 0 to 1, or {MIX}:best; got {name!r}")
    return number, policy


def can_load_trained() -> bool:
    """Whether the libraries that trained policies need are installed."""
    return all(find_spec(module) is not None for module in NEEDED)


def is_marked(given: PolicyLike, mark: Callable[[Policy], bool] = is_reference) -> bool:
    """Whether a policy is a reference, draws its own start, or the like; no trained one is or does."""
    if isinstance(given, str) and is_mix(given):
        return mark(Mix(0.0, POLICIES[DEFAULT], given, 0))
    if isinstance(given, str) and is_quota(given):
        return is_marked(quota_parts(given)[1], mark)
    own = own_object("policies", given)
    return own is not None and mark(own)


def check_policy_entry(given: PolicyLike, entry: Entry) -> None:
    """Refuse a policy that cannot follow a closed or an open study."""
    if entry == "closed" and is_marked(given, only_open):
        raise InputError(f"{name_of(given)} interviews new people: add --entry open --interviews N")
    if entry == "open" and is_marked(given, draws_own_start):
        raise InputError(f"{name_of(given)} draws start people of its own: it is for closed studies")


def check_knows(given: PolicyLike | SelectorLike, network: Network, model: "Model | None" = None) -> None:
    """Refuse trained policies and foresight where contacts are directed, or the model is another one than ``ic``."""
    limited = _undirected_ic_only(given)
    if limited and network.directed:
        raise InputError(f"{name_of(given)} is for contacts that go both ways; those of {network.name} are directed")
    if (limited or given == "ris") and model is not None and not model.is_plain:
        raise InputError(f"{name_of(given)} knows the model ic only, got {model}")


def _undirected_ic_only(given: PolicyLike | SelectorLike) -> bool:
    if not isinstance(given, str):
        return undirected_ic_only(given)
    if is_mix(given):
        return _undirected_ic_only(mix_parts(given)[1])
    if is_quota(given):
        return _undirected_ic_only(quota_parts(given)[1])
    return given.partition(":")[0] == "foresight" or is_learned(given)


# Shipped trained policies --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shipped:
    """A trained policy that comes with the package."""

    variant: str
    family: str
    budget: int

    @property
    def stem(self) -> Path:
        """Where its files are, without their endings."""
        return FOLDER / f"{self.variant}.{self.family}.{self.budget}"

    @property
    def beats_chance(self) -> bool:
        """Whether it was shown to beat random people and random classes on start sets of its training networks."""
        card = json.loads(self.stem.with_name(f"{self.stem.name}.json").read_text(encoding="utf-8"))
        return bool(card.get("beats_chance", {}).get("shown", False))


def is_learned(name: str) -> bool:
    """Whether a name means a trained policy: a variant, or a policy file."""
    found = _NAME.fullmatch(name)
    return is_file(name) or (found is not None and found["variant"] in TRAINED)


def is_file(name: str) -> bool:
    """Whether a name is that of a policy file."""
    return name.endswith((".json", ".safetensors"))


def shipped() -> list[Shipped]:
    """All trained policies that come with the package."""
    stems = (path.stem.split(".") for path in sorted(FOLDER.glob("*.json")))
    return [Shipped(variant, family, int(budget)) for variant, family, budget in stems]


def adviser(
    given: PolicyLike, family: str | None = None, budget: int = 5, default: str = DEFAULT
) -> tuple[PolicyLike, str | None]:
    """What advises a real study: the policy given, or the default where that one is no better than chance; and why."""
    if not isinstance(given, str) or not is_learned(given) or is_file(given):
        return given, None
    meant = find_shipped(given, family, budget)
    if meant.beats_chance:
        return given, None
    trained_for = f"{meant.variant}:{meant.family}@{meant.budget}"
    return default, f"{trained_for} was not shown to beat chance on its training networks: {default} advises instead"


def find_shipped(name: str, family: str | None, budget: int) -> Shipped:
    """The shipped policy that a name means on a network of a family (if known) and for a budget."""
    found = _NAME.fullmatch(name)
    candidates = [] if found is None else [each for each in shipped() if each.variant == found["variant"]]
    if found is None or not candidates:
        raise InputError("no trained policy is shipped under the name {name!r}", name=name)
    families = list(dict.fromkeys(each.family for each in candidates))
    own = LOOK_ALIKES.get(family or "", family)
    wanted = found["family"] or (own if own in families else EVERY_FAMILY)
    if wanted not in families:
        problem = "no {variant} policy is shipped for {family!r} (there are: {families})"
        raise InputError(problem, variant=found["variant"], family=wanted, families=", ".join(families))
    asked = int(found["budget"] or budget)
    nearest = min(
        (each for each in candidates if each.family == wanted),
        key=lambda each: (abs(each.budget - asked), each.budget),
    )
    if found["budget"] and nearest.budget != asked:
        problem = "{variant}:{family} is not shipped for a budget of {budget}"
        raise InputError(problem, variant=found["variant"], family=wanted, budget=asked)
    return nearest


# Selectors by name ---------------------------------------------------------------------------------------------------


def find_selector(given: SelectorLike, **settings: Any) -> Selector:
    """The selector itself; one of the package is built with ``settings`` (see ``claim.selection.selector_named``)."""
    own = own_object("selectors", given)
    if own is not None:
        return own  # type: ignore[no-any-return]
    from claim.selection import selector_named

    return selector_named(str(given), **settings)
