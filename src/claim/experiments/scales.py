"""How large the experiments are, and on which networks they are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from claim.errors import InputError
from claim.experiments.jobs import Wish
from claim.networks import Network, load
from claim.networks.catalogue import find, locate

Settings = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Split:
    """A family's networks by name: policies are trained on some and judged on the others."""

    family: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    stand_in: "Split | None" = None

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys(self.train + self.test))


@dataclass(frozen=True)
class Field:
    """A family's networks, loaded."""

    family: str
    train: tuple[Network, ...]
    test: tuple[Network, ...]


@dataclass(frozen=True)
class Scale:
    """How much of everything; the full scale is the paper's experiments, the others show that all of it works."""

    name: str
    splits: tuple[Split, ...]
    stand_ins: bool  # synthetic families in place of networks that are absent
    runs: int  # start sets a network
    seeds: int  # trained models of each variant
    episodes: int
    settings: Settings = ()  # changes to every variant's configuration
    curve_runs: int = 100
    checkpoints: tuple[int, ...] = (0, 1, 2, 3, 5, 10, 20, 30, 50)
    larger: tuple[tuple[int, int], ...] = ()  # larger budgets that are trained for, with the episodes of each
    larger_runs: int = 100  # start sets a network at these budgets
    larger_families: int = 2  # how many families are trained for them
    survey_wishes: tuple[Wish, ...] = ()  # wrong estimates while surveying
    training_wishes: tuple[Wish, ...] = ()  # wrong estimates while training
    wishing_families: int = 1  # how many families are trained again for them


PAPER_SPLITS = (
    Split(
        "retweet",
        ("copen", "occupy"),
        ("israel", "damascus", "obama", "assad"),
        Split("retweet-like", ("stars1", "stars2"), ("stars5", "stars6")),
    ),
    Split("animal", ("plj", "rob"), ("bhp", "kcs"), Split("vole-like", ("meadow1", "meadow2"), ("meadow5", "meadow6"))),
    Split("zones", ("zone1",), ("zone2", "zone3")),
)
# No network that anything is judged on: the smallest scale is run again and again while the code changes.
TINY_SPLITS = (Split("zones", ("zone1",), ("zone1",)), Split("retweet-like", ("stars1",), ("stars1",)))

_INFLUENCE = (Wish(influence=2.0), Wish(influence=0.5))
_ONE_ESTIMATE = (Wish(people=2.0), Wish(people=0.5), Wish(edges=2.0), Wish(edges=0.5), *_INFLUENCE)
_OTHER_RULES = (Wish(constant=True), Wish(bound=True))

FULL = Scale(
    "full",
    PAPER_SPLITS,
    stand_ins=False,
    runs=500,
    seeds=3,
    episodes=1000,
    larger=((20, 2000), (50, 500)),
    survey_wishes=_ONE_ESTIMATE + _OTHER_RULES,
    training_wishes=_INFLUENCE + _OTHER_RULES,
    wishing_families=2,
)
QUICK = Scale(
    "quick",
    PAPER_SPLITS,
    stand_ins=True,
    runs=30,
    seeds=2,
    episodes=150,
    settings=(("learning_starts", 100), ("validate_every", 50), ("validation_starts", 30)),
    curve_runs=10,
    larger=((20, 30),),
    larger_runs=10,
    larger_families=1,
    survey_wishes=_INFLUENCE + _OTHER_RULES,
    training_wishes=_INFLUENCE + _OTHER_RULES,
)
TINY = Scale(
    "tiny",
    TINY_SPLITS,
    stand_ins=False,
    runs=4,
    seeds=2,
    episodes=6,
    settings=(
        ("hidden", 8), ("clusters", 4), ("layers", (16, 8)), ("dimensions", 6), ("batch_size", 8),
        ("learning_starts", 2), ("validate_every", 3), ("validation_starts", 3),
    ),
    curve_runs=2,
    checkpoints=(0, 2, 5, 8),
    larger=((8, 4),),
    larger_runs=2,
    larger_families=1,
    survey_wishes=_OTHER_RULES,
    training_wishes=_OTHER_RULES[1:],
)  # fmt: skip
SCALES = {scale.name: scale for scale in (FULL, QUICK, TINY)}


def fields(scale: Scale, data_dir: str | None = None) -> tuple[Field, ...]:
    """The networks of a scale; where public ones are absent, a stand-in if the scale has one, else an error."""
    splits = [_present(split, scale.stand_ins, data_dir) for split in scale.splits]
    return tuple(Field(split.family, _load(split.train, data_dir), _load(split.test, data_dir)) for split in splits)


def _present(split: Split, stand_ins: bool, data_dir: str | None) -> Split:
    absent = [name for name in split.names if find(name).kind == "public" and locate(find(name), data_dir) is None]
    if not absent:
        return split
    if stand_ins and split.stand_in is not None:
        return split.stand_in
    raise InputError(
        f"networks of the paper are absent ({', '.join(absent)}): get them with claim networks fetch all, "
        "or look at the experiments on synthetic stand-ins with --quick"
    )


def _load(names: Sequence[str], data_dir: str | None) -> tuple[Network, ...]:
    return tuple(load(name, data_dir=data_dir) for name in names)
