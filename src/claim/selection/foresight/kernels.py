"""Compiled loops of foresight; ``worlds`` is the plain tuple of a :class:`claim.cascades.Worlds`."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import kernel

STILL = 14  # features that do not change while leaders are picked


@kernel
def class_means(values, left, group, groups):
    """The mean row of ``values`` (people, columns) over the people left in each class; zeros if no one is left."""
    means = np.zeros((groups, values.shape[1]))
    count = np.zeros(groups, dtype=np.int64)
    for person in range(len(values)):
        if left[person]:
            count[group[person]] += 1
            for j in range(values.shape[1]):
                means[group[person], j] += values[person, j]
    for g in range(groups):
        if count[g]:
            means[g] /= count[g]
    return means


@kernel
def discount_siblings(person, factor, beyond, surveyed, offsets, contacts):
    """For every surveyed contact of a leader, multiply the hidden reach of their other unsurveyed contacts."""
    for i in range(offsets[person], offsets[person + 1]):
        namer = contacts[i]
        if surveyed[namer]:
            for j in range(offsets[namer], offsets[namer + 1]):
                sibling = contacts[j]
                if sibling != person and not surveyed[sibling]:
                    beyond[sibling] *= factor


@kernel
def common_contacts(surveyed, offsets, contacts):
    """Over all pairs of surveyed contacts: their common contacts, and how many they could have at most."""
    mark = np.full(len(surveyed), -1, dtype=np.int64)
    common = 0
    possible = 0
    for one in range(len(surveyed)):
        if surveyed[one]:
            for i in range(offsets[one], offsets[one + 1]):
                mark[contacts[i]] = one
            for i in range(offsets[one], offsets[one + 1]):
                other = contacts[i]
                if other > one and surveyed[other]:
                    possible += min(offsets[one + 1] - offsets[one], offsets[other + 1] - offsets[other]) - 1
                    for j in range(offsets[other], offsets[other + 1]):
                        common += mark[contacts[j]] == one
    return common, possible


@kernel
def true_gains(worlds, people, row_of, rows, most, covered):
    """The mean number of people that the people of each row add in the true worlds; at most ``most`` of a row count."""
    _, samples, _, starts, _, offsets, numbers = worlds
    total = np.zeros(rows)
    count = np.zeros(rows, dtype=np.int64)
    for i in range(len(people)):
        person, row = people[i], row_of[i]
        if count[row] < most:
            count[row] += 1
            total[row] += samples - (offsets[person + 1] - offsets[person])
            for component in numbers[offsets[person] : offsets[person + 1]]:
                if not covered[component]:
                    total[row] += starts[component + 1] - starts[component]
    return total / (np.maximum(count, 1) * samples)


@kernel
def surveyed_around(surveyed, offsets, contacts):
    """For each person the number of surveyed contacts and the sum of the logarithms of their degrees."""
    n = len(surveyed)
    count, logs = np.zeros(n), np.zeros(n)
    for person in range(n):
        for i in range(offsets[person], offsets[person + 1]):
            contact = contacts[i]
            if surveyed[contact]:
                count[person] += 1
                logs[person] += np.log(offsets[contact + 1] - offsets[contact])
    return count, logs


@kernel
def ties_among(people, mark, stamp, offsets, contacts):
    """How many pairs of the people are contacts of one another."""
    for person in people:
        mark[person] = stamp
    ties = 0
    for person in people:
        for i in range(offsets[person], offsets[person + 1]):
            ties += mark[contacts[i]] == stamp
    return ties // 2


@kernel
def still_features(member, surveyed, start, size, offsets, contacts, component, people_in):
    """Rows of the features that do not change, for a ``member`` of each class; ``size`` is the number of its people."""
    count, logs = surveyed_around(surveyed, offsets, contacts)
    rows = np.zeros((len(member), STILL))
    mark = np.full(len(surveyed), -1, dtype=np.int64)
    for row in range(len(member)):
        person = member[row]
        around = contacts[offsets[person] : offsets[person + 1]]
        namers = around[surveyed[around]]
        out = rows[row]
        siblings, sibling_logs = 0.0, 0.0
        own = np.log(max(offsets[person + 1] - offsets[person], 1)) if surveyed[person] else 0.0
        for w in namers:
            d = float(offsets[w + 1] - offsets[w])
            out[1] += 1.0 / d
            out[2] = max(out[2], 1.0 / d)
            out[3] = max(out[3], np.log(d))
            out[4] += np.log(d)
            out[5] += start[w]
            siblings += count[w] - surveyed[person]
            sibling_logs += logs[w] - own
        out[0] = len(namers)
        if len(namers):
            out[4] /= len(namers)
            out[5] /= len(namers)
        out[6] = np.log(people_in[component[person]])
        out[7] = ties_among(namers, mark, row, offsets, contacts)
        out[8] = sibling_logs / siblings if siblings > 0 else -1.0
        out[9] = siblings
        out[10] = surveyed[person]
        out[11] = offsets[person + 1] - offsets[person] if surveyed[person] else 0.0
        out[12] = np.log(size[row])
        out[13] = start[person]
    return rows


@kernel
def overlap_features(member, picked, picked_around, picked_in, surveyed, offsets, contacts, component):
    """The overlap of each candidate with the leaders so far.

    Over the surveyed contacts w of a candidate: leaders among the contacts of w, the same divided by d(w), and how many
    w are leaders; then leaders among the candidate's own contacts and in the seen component.
    """
    rows = np.zeros((len(member), 5))
    for row in range(len(member)):
        person = member[row]
        for i in range(offsets[person], offsets[person + 1]):
            w = contacts[i]
            if surveyed[w]:
                rows[row, 0] += picked_around[w]
                rows[row, 1] += picked_around[w] / (offsets[w + 1] - offsets[w])
                rows[row, 2] += picked[w]
        rows[row, 3] = picked_around[person]
        rows[row, 4] = picked_in[component[person]]
    return rows


@kernel
def first_totals(worlds, weights, totals):
    """What each person alone reaches, summed over the worlds, for each column of the totals."""
    _, samples, members, starts, _, offsets, _ = worlds
    n, columns = weights.shape
    reach = np.zeros((n, columns + 1))
    for person in range(n):
        alone = samples - (offsets[person + 1] - offsets[person])
        for j in range(columns):
            reach[person, j] = alone * weights[person, j]
        reach[person, columns] = alone
    for component in range(len(totals)):
        for i in range(starts[component], starts[component + 1]):
            for j in range(columns + 1):
                reach[members[i], j] += totals[component, j]
    return reach


@kernel
def cover_totals(worlds, person, attendance, uncovered, totals, reach):
    """Subtract what a new leader covers from what each person reaches; ``uncovered`` is updated elsewhere."""
    _, _, members, starts, _, offsets, numbers = worlds
    for k in range(offsets[person], offsets[person + 1]):
        component = numbers[k]
        taken = attendance * uncovered[component]
        if taken > 0.0:
            for i in range(starts[component], starts[component + 1]):
                for j in range(totals.shape[1]):
                    reach[members[i], j] -= taken * totals[component, j]
