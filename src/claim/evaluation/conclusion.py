"""What a comparison found, in sentences."""

from claim.evaluation.compare import Comparison, Row, method_name
from claim.registry import is_learned

SIGNIFICANT = 0.05  # Holm-corrected p-value
MOST_NAMED = 6  # methods or networks that a sentence lists


def conclusion(result: Comparison) -> list[str]:
    """A few sentences for each protocol: the best method, how sure that is, and which others are as good.

    If a trained policy takes part, one more says what the tests mean for it.
    """
    protocols = list(dict.fromkeys(row.protocol for row in result.rows))
    found = [(protocol, _of_protocol(result, protocol)) for protocol in protocols]
    texts = [f"{name.capitalize()} protocol: {text}" if len(protocols) > 1 else text for name, text in found if text]
    return texts + _on_trainings(result)


def _on_trainings(result: Comparison) -> list[str]:
    trained = list(dict.fromkeys(row.policy for row in result.rows if is_learned(row.policy) and row.runs > 1))
    if not trained or not result.comparisons:
        return []
    return [
        f"Trained policies ({_listed(trained)}) are one training each: the tests say whether a policy is better on "
        "these start sets, not whether its training method is."
    ]


def _of_protocol(result: Comparison, protocol: str) -> str:
    several = len({row.selector for row in result.rows}) > 1
    reached: dict[str, dict[str, Row]] = {}  # by method and network
    for row in result.rows:
        if row.protocol == protocol and not row.reference:
            reached.setdefault(method_name(row, several), {})[row.network] = row
    if len(reached) < 2:
        return ""
    first, *_ = reached
    networks = list(reached[first])
    if not all(row.mean for row in reached[first].values()):  # no one was known: there is nothing to compare with
        return ""
    gain = {name: _gain(rows, reached[first]) for name, rows in reached.items()}
    best = max(gain, key=lambda name: gain[name])
    below = _significantly_below(result, protocol)
    shares = [100 * reached[best][each].mean / result.opt[each] for each in networks]
    over, share = f"On {networks[0]}", f"{shares[0]:.0f} %"
    if len(networks) > 1:
        over, share = f"On average over {len(networks)} networks", f"{min(shares):.0f} to {max(shares):.0f} %"
    sentences = [f"{over}, {best} reaches the most people: {share} of OPT, which knows the whole network."]
    if len(networks) > 1:
        most = [max(rows[each].mean for rows in reached.values()) for each in networks]
        won = [each for each, mean in zip(networks, most, strict=True) if reached[best][each].mean == mean]
        sentences.append(f"It is the best on {len(won)} of them.")
    if best != first:
        where = [each for each in networks if (each, first, best) in below]
        sure = f"significant on {_listed(where)}" if where else "not significant on any network"
        sentences.append(f"It reaches {100 * gain[best]:.1f} % more than {first}, a difference that is {sure}.")
    level = [name for name in reached if name != best and not any((each, name, best) in below for each in networks)]
    if level:
        sentences.append(f"Not significantly behind it on any network: {_listed(level)}.")
    worse = {name: [each for each in networks if (each, name, first) in below] for name in reached}
    if named := [f"{name} on {_listed(where)}" for name, where in worse.items() if where]:
        sentences.append(f"Significantly behind {first}: {_listed(named)}.")
    return " ".join(sentences)


def _gain(rows: dict[str, Row], others: dict[str, Row]) -> float:
    """The relative difference in people reached, averaged over networks."""
    return sum(row.mean / others[network].mean - 1 for network, row in rows.items()) / len(rows)


def _significantly_below(result: Comparison, protocol: str) -> set[tuple[str, str, str]]:
    """Network, worse method, better method for each significant difference."""
    return {
        (each.network, *((each.b, each.a) if each.difference > 0 else (each.a, each.b)))
        for each in result.comparisons
        if each.protocol == protocol and each.p_holm < SIGNIFICANT
    }


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    shown = names[:MOST_NAMED] + ([f"{more} more"] if more > 0 else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
