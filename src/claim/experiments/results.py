"""The results of the experiments' jobs, by method and network; None where a job has not been run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from claim.experiments.jobs import Optimum
from claim.experiments.paper import SHAPED, UNTRAINED, VARIANTS, Case, Method, Paper
from claim.jobs import Result, Store, with_needs
from claim.networks import Network
from claim.networks.network import FloatArray


@dataclass
class Results:
    """Results in a folder, each read once."""

    paper: Paper
    store: Store

    def __post_init__(self) -> None:
        self.result = cache(self.store.load)

    def models(self, method: Method, case: Case) -> list[Result] | None:
        """The studies of each trained model of a method that is done (one result for a policy without training)."""
        found = [self.result(job) for job in self.paper.evaluations(method, case)]
        return [each for each in found if each is not None] or None

    def is_planned(self, method: Method, case: Case) -> bool:
        """Whether a method is run on a network: methods of the paper are trained on some families only."""
        return bool(self.paper.evaluations(method, case))

    def influence(self, method: Method, case: Case) -> FloatArray | None:
        """People reached: (models, runs) by the models that are done, (runs,) by a method without training."""
        found = self.models(method, case)
        return None if found is None else by_model(method, [last_influence(each) for each in found])

    def part(self, methods: Sequence[Method], case: Case) -> str:
        """A note where only some of the models of methods are done or a method has only one, else nothing."""
        notes = []
        for method in methods:
            wanted = len(self.paper.evaluations(method, case))
            done = len(self.models(method, case) or ())
            if 0 < done < wanted or (is_trained(method) and done == 1):
                models = f"{done} of {wanted} models" if done < wanted else "one training"
                notes.append(f"{method.name} " * (len(methods) > 1) + models)
        return f" [{', '.join(notes)}]" if notes else ""

    def optimum(self, network: Network) -> float | None:
        """OPT of a network."""
        found = self.result(Optimum(network))
        return None if found is None else float(found["optimum"])

    def missing(self) -> list[str]:
        """The names of all jobs that have no result."""
        return [job.name for job in with_needs(self.paper.jobs()) if self.result(job) is None]


def is_trained(method: Method) -> bool:
    """Whether a method has a model of each training seed, which may be a single one."""
    return method.policy in (*VARIANTS, UNTRAINED, SHAPED)


def by_model(method: Method, values: Sequence[FloatArray]) -> FloatArray:
    """Values of each model as one array: (models, runs), or (runs,) for a method without training."""
    return np.array(values) if is_trained(method) else np.asarray(values[0])


def last_influence(evaluated: Result) -> FloatArray:
    """People reached in each run after the last survey (runs,)."""
    return np.array([run[-1] for run in evaluated["influence"]])
