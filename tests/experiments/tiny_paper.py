"""The experiments at a scale that takes a minute; as a program, the command line with it in place of ``--quick``."""

from claim.cli import main
from claim.experiments import paper
from claim.experiments.paper import FamilySplit, Scale
from claim.networks import load
from claim.networks.catalogue import family_networks


class TinyScale(Scale):
    """One training network a family, which policies are also evaluated on."""

    def splits(self, data_dir: str | None = None) -> tuple[FamilySplit, ...]:
        first = {family: (load(family_networks(family, "train")[0].name),) for family in self.families}
        return tuple(FamilySplit(family, networks, networks) for family, networks in first.items())


SMALL = (
    ("hidden", 8), ("clusters", 4), ("layers", (16, 8)), ("batch_size", 8),
    ("validate_every", 3), ("validation_starts", 3),
)  # fmt: skip
TINY = TinyScale(
    "tiny",
    runs=4,
    seeds=2,
    episodes=6,
    paper_episodes=3,
    larger_episodes=4,
    larger_seeds=2,
    larger_budget=6,
    larger_surveys=(6, 8),
    larger_runs=2,
    families=("zones", "vole-like"),
    main_families=1,
    settings=SMALL,
    paper_settings=(*SMALL, ("dimensions", 6)),
    curve_runs=2,
    checkpoints=(0, 2, 5, 8),
)

if __name__ == "__main__":
    paper.QUICK = TINY
    main()
