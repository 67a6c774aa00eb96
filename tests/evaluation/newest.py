"""A policy and a selector as a user would write them, in a file of their own."""


class Newest:
    """Survey the person who was named last."""

    name = "newest"

    def choose(self, discovered, rng, count=1):
        return sorted(discovered.frontier, reverse=True)[:count]


class FirstSurveyed:
    """Recruit the people who were surveyed first."""

    name = "first-surveyed"

    def select(self, discovered, k, rng, *, may=None, must=(), must_not=()):
        return discovered.surveyed[:k]
