"""What speaks for somebody, in plain words."""

from dataclasses import dataclass

from claim.discovery.policies.scout.signals import CLASS
from claim.networks.network import FloatArray

LEAST = 0.1  # of the logarithm of what a survey should bring: less than a tenth more is no reason
MOST = 2


@dataclass(frozen=True)
class Theme:
    """Signals that say nearly the same: what they say where the first of them is high, and where it is low."""

    signals: tuple[str, ...]
    high: str
    low: str


THEMES = (
    Theme(
        ("namers", "namers who know each other"),
        "named by more people than others are",
        "not named by as many as others, who bring little that is new here",
    ),
    Theme(
        ("lonely namers", "loneliest namer"),
        "named by somebody who knows few others; here such people lead to hubs",
        "not named by the loners, who lead to few people here",
    ),
    Theme(
        ("namers' contacts", "most contacts"),
        "named by well-connected people, whose contacts are well connected here",
        "named by people of few contacts, who lead to the well-connected here",
    ),
    Theme(
        ("news nearby", "contacts nearby", "news of namers"),
        "surveys around this person brought many new people",
        "away from where much was found already",
    ),
    Theme(
        ("asked around", "named twice around", "alike", "share alike"),
        "around here surveys go on paying off",
        "few people around this person were asked or named by others so far, so much is open",
    ),
)


def strongest(parts: FloatArray, above: FloatArray) -> list[str]:
    """The themes that speak most for somebody, among those whose words are true of them.

    ``parts`` is what each signal adds to the score beyond the average of those waiting, ``above`` how far the signal
    itself is above the average. Words are about the first signal of a theme, so it has to speak for somebody itself.
    """
    first = {theme: CLASS.index(theme.signals[0]) for theme in THEMES}
    weight = {theme: sum(parts[CLASS.index(signal)] for signal in theme.signals) for theme in THEMES}
    meant = [theme for theme in THEMES if parts[first[theme]] > 0 and weight[theme] >= LEAST]
    best = sorted(meant, key=lambda theme: -weight[theme])[:MOST]
    return [theme.high if above[first[theme]] > 0 else theme.low for theme in best]
