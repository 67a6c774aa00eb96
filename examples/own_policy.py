"""Compare a survey policy of your own with the built-in ones, by paired differences.

Prints: two-steps minus random
"""

import numpy as np

import claim


class TwoSteps:
    """Surveys the person whose namers know the most people: a guess at who is two steps from a hub."""

    name = "two-steps"

    def choose(self, discovered: claim.Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """People of the frontier, best first; ties in random order."""
        people = rng.permutation(discovered.frontier).tolist()
        namers = {person: discovered.surveyed_contacts(person) for person in people}
        return sorted(people, key=lambda person: -max(map(discovered.degree, namers[person]), default=0))[:count]


if __name__ == "__main__":  # worker processes import this file
    result = claim.compare(["zone2", "zone3"], [TwoSteps(), "random", "scout"], "foresight", runs=20)
    for pair in result.comparisons:
        low, high = pair.ci95
        print(f"{pair.network}: {pair.a} minus {pair.b}: {pair.difference:+.2f} people, 95 % [{low:+.2f}, {high:+.2f}]")
