"""Compare the predicted reach of the leaders whom a lender informed with who took up loans, in 20 villages.

Banerjee, Chandrasekhar, Duflo and Jackson, "The Diffusion of Microfinance", Science 341, 2013. The lender informed the
leaders first. A model predicts the share of the other households that hear of the loans; a share q of these takes one.
p and q are fitted to the take-up of the training villages by least squares.

    CLAIM_DATA=DIR python benchmarks/villages.py
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claim.cascades import Diffusion, Model, Worlds
from claim.networks import Network, load
from claim.networks.catalogue import PUBLIC_NETWORKS
from claim.networks.network import BoolArray, FloatArray
from claim.selection import select

MODELS = ("ic", "ic:steps=2", "ic:steps=3", "lt", "threshold:1", "threshold:2", "threshold:3")
PROBABILITIES = tuple(np.round(np.geomspace(0.005, 0.5, 25), 4).tolist())
SAMPLES = 4000
SEED = 1


@dataclass(frozen=True)
class Village:
    """A network with the households that were informed first and those that took up loans."""

    network: Network
    leader: BoolArray
    loan: BoolArray

    @classmethod
    def of(cls, name: str) -> "Village":
        """A village by name."""
        network = load(name)
        leader, loan = (
            np.array([value == "1" for value in network.people.attributes[column]]) for column in ("leader", "loan")
        )
        return cls(network, leader, loan)

    @property
    def take_up(self) -> float:
        """The share of the other households that took up a loan."""
        return float(self.loan[~self.leader].mean())

    def informed(self, model: str, p: float) -> float:
        """The share of the other households that a model predicts to hear of the loans."""
        leaders = np.flatnonzero(self.leader).tolist()
        reach = Diffusion(self.network, Model.of(model), p).influence(leaders, SAMPLES, SEED).mean
        return (reach - len(leaders)) / (self.network.n - len(leaders))

    def chances(self, p: float) -> FloatArray:
        """The chance that each other household hears of the loans under ic."""
        worlds = Worlds.draw(self.network, p, SAMPLES, SEED)
        components = np.unique(
            np.concatenate(
                [
                    worlds.member_numbers[worlds.member_offsets[who] : worlds.member_offsets[who + 1]]
                    for who in np.flatnonzero(self.leader)
                ]
            )
        )
        members = [worlds.members[worlds.starts[i] : worlds.starts[i + 1]] for i in components]
        return (np.bincount(np.concatenate(members), minlength=self.network.n) / SAMPLES)[~self.leader]


def fitted(villages: Sequence[Village], model: str, all_take: bool) -> tuple[float | None, float, FloatArray]:
    """p (None if the model does not use it) and q of the smallest squared error, and what is predicted of each.

    q is 1 where ``all_take``: everyone who hears takes a loan.
    """
    take_up = np.array([village.take_up for village in villages])
    found = []
    for p in PROBABILITIES if Model.of(model).uses_p else PROBABILITIES[:1]:
        informed = np.array([village.informed(model, p) for village in villages])
        q = 1.0 if all_take else min(float(informed @ take_up / max(informed @ informed, 1e-12)), 1.0)
        found.append((float(((q * informed - take_up) ** 2).sum()), p, q, q * informed))
    _, p, q, predicted = min(found, key=lambda each: each[0])
    return (p if Model.of(model).uses_p else None), q, predicted


def area_under_curve(score: FloatArray, positive: BoolArray) -> float:
    """The chance that a household with a loan scores higher than one without, ties counting half."""
    above = score[positive][:, None] - score[~positive][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def main() -> None:
    """Print the fits on the training villages and what they are worth on the test villages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="also write the results to this file")
    given = parser.parse_args()
    train, test = (
        [Village.of(known.name) for known in PUBLIC_NETWORKS if known.family == "villages" and known.role == role]
        for role in ("train", "test")
    )
    take_up = np.array([village.take_up for village in test])
    mean = float(np.mean([village.take_up for village in train]))
    rows = [{"model": "mean of the training villages", "rmse": float(np.sqrt(((mean - take_up) ** 2).mean()))}]
    for model, all_take in [(model, False) for model in MODELS] + [(model, True) for model in MODELS[:3]]:
        p, q, within = fitted(train, model, all_take)
        predicted = np.array([q * village.informed(model, p or 0.0) for village in test])
        rows.append(
            {
                "model": model,
                "p": p,
                "q": q,
                "train_rmse": float(np.sqrt(((within - [v.take_up for v in train]) ** 2).mean())),
                "rmse": float(np.sqrt(((predicted - take_up) ** 2).mean())),
                "correlation": float(np.corrcoef(predicted, take_up)[0, 1]) if predicted.std() > 0 else None,
            }
        )
        print(rows[-1], flush=True)
    print(rows[0])
    p = next(row["p"] for row in rows if row["model"] == "ic" and row["q"] == 1.0)
    households = []
    for village in test:
        loan = village.loan[~village.leader]
        sources = np.repeat(np.arange(village.network.n), village.network.degrees)
        named = np.bincount(sources, village.leader[village.network.contacts], village.network.n)[~village.leader]
        k = int(village.leader.sum())
        line = {
            "village": village.network.name,
            "households": village.network.n,
            "leaders": k,
            "take_up": village.take_up,
            "auc_ic": area_under_curve(village.chances(p), loan),
            "auc_contacts": area_under_curve(village.network.degrees[~village.leader].astype(float), loan),
            "auc_leaders": area_under_curve(named.astype(float), loan),
        }
        for model in ("ic", "threshold:2"):
            leaders = np.flatnonzero(village.leader).tolist()
            line[f"{model} informed"] = (
                Diffusion(village.network, Model.of(model), p).influence(leaders, SAMPLES, SEED).mean
            )
            line[f"{model} chosen"] = select(village.network, k, p, rng=SEED, model=model).influence
        households.append(line)
        print(
            {name: round(value, 3) if isinstance(value, float) else value for name, value in line.items()}, flush=True
        )
    for name in ("auc_ic", "auc_contacts", "auc_leaders"):
        values = np.array([line[name] for line in households])
        print(name, f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"models": rows, "villages": households}, file, indent=1)


if __name__ == "__main__":
    main()
