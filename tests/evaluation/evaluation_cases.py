"""Small networks to compare policies on."""

import networkx
import numpy as np

from claim.evaluation.runs import StudyResult, run_studies
from claim.networks import Network
from relabelling import relabelled

PUBLISHED_OPT = {"israel": 113.9, "damascus": 195.8, "obama": 154.7, "assad": 134.2, "bhp": 111.9, "kcs": 113.4}
PUBLISHED_RANDOM = {"israel": 31.17, "damascus": 84.71, "obama": 40.81, "assad": 69.44, "bhp": 36.80, "kcs": 54.39}


def hubs_and_leaves(n: int = 120, seed: int = 3, name: str = "hubs") -> Network:
    """A sparse network with a few hubs, its people numbered at random."""
    graph = networkx.barabasi_albert_graph(n, 2, seed=seed)
    return relabelled(Network.from_networkx(graph, name), np.random.default_rng(seed).permutation(n))


def contacts(n: int = 90, seed: int = 4, name: str = "contacts") -> Network:
    """A clustered network without hubs."""
    return Network.from_networkx(networkx.watts_strogatz_graph(n, 4, 0.1, seed=seed), name)


def study_results(*given) -> list[list[StudyResult]]:
    """The outcomes of each study at the checkpoints."""
    return [outcomes for _, outcomes in run_studies(*given)]
