"""Compiled loops that read and arrange the ties of large networks."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from claim.compiling import compiled

kernel = compiled(nogil=True)


@kernel
def count(one, other, directed, offsets):
    for i in range(len(one)):
        if one[i] != other[i]:
            offsets[one[i] + 1] += 1
            if not directed:
                offsets[other[i] + 1] += 1


@kernel
def fill(one, other, directed, contacts, filled):
    for i in range(len(one)):
        if one[i] != other[i]:
            contacts[filled[one[i]]] = other[i]
            filled[one[i]] += 1
            if not directed:
                contacts[filled[other[i]]] = one[i]
                filled[other[i]] += 1


@kernel
def tidy(offsets, contacts):
    """Sort every row and leave out repeated contacts, in place; returns how many are left."""
    kept, begin = 0, 0
    for person in range(len(offsets) - 1):
        end = offsets[person + 1]
        contacts[begin:end].sort()
        offsets[person] = kept
        for i in range(begin, end):
            if i == begin or contacts[i] != contacts[i - 1]:
                contacts[kept] = contacts[i]
                kept += 1
        begin = end
    offsets[len(offsets) - 1] = kept
    return kept


@kernel
def parse_numbers(text, numbers):
    """The whole numbers of a text (bytes) that has nothing but digits and what separates them."""
    count, inside = 0, False
    for byte in text:
        digit = byte - 48
        if 0 <= digit <= 9:
            numbers[count] = numbers[count] * 10 + digit if inside else digit
            inside = True
        elif inside:
            count, inside = count + 1, False
    return count + inside
