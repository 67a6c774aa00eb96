"""NetMF: DeepWalk in closed form, by the leading eigenvectors (Qiu et al., 2018)."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsymv
from scipy.sparse import csr_array

from claim.networks.network import FloatArray

START = 2
LONGEST = 160  # vectors of the basis; if these are not enough, the leading eigenvalues are close to each other
BETWEEN_CHECKS = 10
DISTINCT = 1e-3  # sizes of eigenvalues closer than this share of the largest are not told apart
ACCURATE = 1e-10  # by how much an axis may be turned: its residual over the distance to the next eigenvalue
ROUGH = 1e-4  # the same for the first eigenpair that is not wanted, which only has to be known to be smaller
NOTHING = 1e-5  # less than this share of a vector is too much rounding error to go on from


def leading_eigenpairs(matrix: FloatArray, wanted: int) -> tuple[FloatArray, FloatArray] | None:
    """The eigenvalues of the largest sizes and their vectors; None unless these and the next are clearly apart.

    The starting vectors are fixed, and have a part in all eigenvectors; what is found does not depend on them.
    """
    basis = _Basis(matrix, min(LONGEST, len(matrix)))
    while basis.grow(BETWEEN_CHECKS):
        values, vectors, residuals = basis.eigenpairs(wanted + 1)
        size = np.abs(values)
        apart, enough = (size[:-1] - size[1:]).min(), DISTINCT * size[0]
        found = residuals[:wanted].max() <= ACCURATE * max(apart, enough)
        if found and residuals[wanted] <= ROUGH * max(apart, enough):
            return (values[:wanted], vectors[:, :wanted]) if apart > enough else None
    return None


class _Basis:
    """Orthonormal vectors, and the matrix on those whose images the others span."""

    def __init__(self, matrix: FloatArray, longest: int) -> None:
        self.matrix = matrix.T  # the order that BLAS likes; the matrix is symmetric
        self.vectors = np.zeros((len(matrix), longest), order="F")
        self.projected = np.zeros((longest, longest))
        self.count = self.spanned = 0
        turns = np.arange(len(matrix), dtype=np.float64) ** 2
        for frequency in np.sqrt([2.0, 3.0])[:START]:
            # An image is zero where rows of the matrix are, as its eigenvectors are.
            self._add(dsymv(1.0, self.matrix, np.cos(frequency * turns)))

    def grow(self, more: int) -> bool:
        """Add images of vectors; False where there is no room, or nothing new."""
        for _ in range(more):
            if not START <= self.count < self.vectors.shape[1]:
                return False
            column = self.projected[:, self.spanned]
            if not self._add(dsymv(1.0, self.matrix, self.vectors[:, self.spanned]), column):
                return False
            self.spanned += 1
        return True

    def _add(self, vector: FloatArray, parts: FloatArray | None = None) -> bool:
        """Add what is new in a vector, and keep its parts along the basis; False if it is nothing."""
        known, whole = self.vectors[:, : self.count], np.linalg.norm(vector)
        along = np.zeros(self.count + 1)
        for begin in (max(self.count - 2 * START, 0), 0):  # all an image has; then what rounding left along the others
            part = vector @ known[:, begin:]
            vector = vector - known[:, begin:] @ part
            along[begin:-1] += part
        along[-1] = np.linalg.norm(vector)
        if along[-1] <= NOTHING * whole:
            return False
        self.vectors[:, self.count] = vector / along[-1]
        self.count += 1
        if parts is not None:
            parts[: self.count] = along
        return True

    def eigenpairs(self, wanted: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Those of the matrix on the spanned vectors by falling size, and how far they are from being its own."""
        spanned = self.spanned
        values, inner = np.linalg.eigh(self.projected[:spanned, :spanned], UPLO="U")
        order = np.argsort(-np.abs(values))[:wanted]
        residuals = np.linalg.norm(self.projected[spanned : self.count, :spanned] @ inner[:, order], axis=0)
        return values[order], self.vectors[:, :spanned] @ inner[:, order], residuals


IntArray = npt.NDArray[np.int64]
FeatureArray = npt.NDArray[np.float32]
NEGLIGIBLE = 1e-9  # singular values, sign sums and differences below this share of the largest are rounding errors
MANY_ROWS = 256  # with fewer, dense matrices are as fast
FEW_AXES = 8
PRESENT = 1e-3  # a person with less than this share of the largest part in some axes does not settle them


def netmf(
    adjacency: npt.ArrayLike,
    multiplicity: npt.ArrayLike,
    dimensions: int = 60,
    window: int = 5,
    negative: int = 1,
    cover: npt.NDArray[np.bool_] | None = None,
) -> FeatureArray:
    """The features of each row's people, one axis a column, by falling singular value; missing axes are zeros.

    ``adjacency`` is 1 where the people of two rows are contacts, else 0; ``multiplicity`` says how many people each
    row stands for. People without contacts get zeros. Every edge has a row of ``cover``: where these are known and few,
    many rows take less time.
    """
    count = np.asarray(multiplicity, dtype=np.float64)
    features = np.zeros((len(count), dimensions), dtype=np.float32)
    if len(count):
        axes = leading_axes(_target(np.asarray(adjacency), count, window, negative, cover), count, dimensions)
        features[:, : axes.shape[1]] = axes
    return features


def _target(
    adjacency: npt.NDArray[Any], count: FloatArray, window: int, negative: int, cover: npt.NDArray[np.bool_] | None
) -> FloatArray:
    if cover is None or len(count) <= MANY_ROWS:
        return shifted_mutual_information(adjacency.astype(np.float64), count, window, negative)
    return covered_mutual_information(adjacency, cover, count, window, negative)


def shifted_mutual_information(adjacency: FloatArray, count: FloatArray, window: int, negative: int) -> FloatArray:
    """The matrix M between rows.

    (D^-1 A)^r D^-1 = D^-1/2 N^r D^-1/2 with N = D^-1/2 A D^-1/2. On rows, N_ij = sqrt(c_i c_j / (d_i d_j)) A_ij, and
    the entries between people are those between rows over sqrt(c_i c_j).
    """
    degree = adjacency @ count
    volume = count @ degree
    inverse = _inverse(degree)
    scale = np.sqrt(count * inverse)
    step = scale[:, None] * adjacency * scale
    total = step
    for _ in range(window - 1):  # Horner: N + N (N + N (...))
        total = step + step @ total
    share = np.sqrt(inverse / count)
    total = (total * share[:, None]) * (share * (volume / (negative * window)))
    return np.log(np.maximum(total, 1.0))


def covered_mutual_information(
    adjacency: npt.NDArray[Any], cover: npt.NDArray[np.bool_], count: FloatArray, window: int, negative: int
) -> FloatArray:
    """The same matrix where every edge has a row of the cover.

    Whoever is outside has contacts inside only, so every walk from there goes on inside: with Z the columns inside of
    I + N + ... + N^(T-1), the rows of N + ... + N^T are those of (N Z)' inside, and of N_outside,inside Z' outside.
    """
    inside = np.flatnonzero(cover)
    sources, targets = _covered_edges(adjacency, cover)
    degree = np.bincount(sources, count[targets], minlength=len(count)).astype(np.float64)
    inverse = _inverse(degree)
    scale, share = np.sqrt(count * inverse), np.sqrt(inverse / count)
    step = csr_array((scale[sources] * scale[targets], (sources, targets)), shape=adjacency.shape)
    nowhere = np.zeros((len(count), len(inside)))
    nowhere[inside, np.arange(len(inside))] = 1.0
    walks = nowhere
    for _ in range(window - 1):
        walks = nowhere + step @ walks
    weight = share * (count @ degree / (negative * window))
    inward = csr_array(share[:, None] * step[:, inside])
    total = np.ascontiguousarray(inward @ (walks * weight[:, None]).T, dtype=np.float64)
    total[inside] = (step @ walks * weight[:, None]).T * share[inside, None]
    entries = total.ravel()
    above = np.flatnonzero(entries > 1.0)  # few, and the logarithm is what takes time
    logarithms = np.log(entries[above])
    entries[:] = 0.0
    entries[above] = logarithms
    return total


def _covered_edges(adjacency: npt.NDArray[Any], cover: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """All edges in both directions, from the rows of the cover alone."""
    inside, others = np.nonzero(adjacency[cover])
    inside = np.flatnonzero(cover)[inside]
    outside = ~cover[others]
    return np.concatenate([inside, others[outside]]), np.concatenate([others, inside[outside]])


def _inverse(degree: FloatArray) -> FloatArray:
    """One over the degrees, and 0 for people without contacts."""
    return np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)


def leading_axes(target: FloatArray, count: FloatArray, dimensions: int) -> FloatArray:
    """U sqrt(sigma) of the matrix of people, read off one member of each row; ``target`` is used up."""
    root = np.sqrt(count)
    target *= root[:, None]
    target *= root
    values, vectors = _eigenpairs(target, dimensions)
    size = np.abs(values)  # the singular values of a symmetric matrix
    order = np.argsort(-size - NEGLIGIBLE * values)  # of two equal ones that of the positive eigenvalue comes first
    order = order[size[order] > NEGLIGIBLE * size.max()]
    axes = vectors[:, order] / root[:, None]
    settle_equal_axes(axes, values[order], count)
    axes = axes[:, :dimensions]
    axes[np.abs(axes) <= NEGLIGIBLE] = 0.0  # between components
    scaled: FloatArray = axes * (np.sqrt(size[order[:dimensions]]) * signs(axes, count))
    return scaled


def _eigenpairs(matrix: FloatArray, dimensions: int) -> tuple[FloatArray, FloatArray]:
    """All of them, or only the leading ones where that is faster and no choice between equal ones has to be made."""
    few = len(matrix) > MANY_ROWS and 0 < dimensions <= FEW_AXES
    return (leading_eigenpairs(matrix, dimensions) if few else None) or np.linalg.eigh(matrix)


def settle_equal_axes(axes: FloatArray, values: FloatArray, count: FloatArray) -> None:
    """Choose the axes of equal eigenvalues, in place; any rotation of them would do as well.

    Equal stars around two people are the usual case. Their projector P is the same in all rotations: its first row that
    is not zero is the first axis, and what is left of P without this axis gives the next. So each star gets its axis.
    """
    splits = np.flatnonzero(np.abs(np.diff(values)) > NEGLIGIBLE * np.abs(values[:1])) + 1
    if len(splits) + 1 >= len(values):
        return
    for begin, end in zip([0, *splits], [*splits, len(values)], strict=True):
        if end - begin > 1:
            projector = axes[:, begin:end] @ axes[:, begin:end].T
            enough = PRESENT * projector.diagonal().max()
            for axis in range(begin, end):
                row = np.argmax(projector.diagonal() > enough)
                axes[:, axis] = projector[row] / np.sqrt(projector[row, row])
                projector -= np.outer(axes[:, axis], axes[:, axis])


def signs(axes: FloatArray, count: FloatArray) -> FloatArray:
    """The signs that make the sum of cubes over all people positive, for each axis of length 1.

    The sum depends neither on the order of people nor on how they are put into rows. Where it vanishes, as on an axis
    that tells two mirror images apart, the first row that counts is made positive.
    """
    cubes = count @ axes**3
    mirrored = np.abs(cubes) <= NEGLIGIBLE
    if mirrored.any():
        first = np.argmax(np.abs(axes) > NEGLIGIBLE, axis=0)
        cubes = np.where(mirrored, axes[first, np.arange(axes.shape[1])], cubes)
    return np.where(cubes < 0, -1.0, 1.0)
