"""NetMF: DeepWalk in closed form, by the leading eigenvectors of its matrix (Qiu et al., 2018)."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsymv
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from claim.networks.network import FloatArray

IntArray = npt.NDArray[np.int64]
FeatureArray = npt.NDArray[np.float32]
NEGLIGIBLE = 1e-9  # singular values, sign sums and differences below this share of the largest are rounding errors
MANY_ROWS = 256  # with fewer, dense matrices are as fast
FEW_AXES = 8
PRESENT = 1e-3  # a person with less than this share of the largest part in some axes does not settle them
KRYLOV_VECTORS = 40
RESIDUAL = 1e-13  # of an eigenpair, as a share of its eigenvalue
DISTINCT = 1e-3  # sizes of eigenvalues closer than this share of the largest count as equal


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
        contacts = np.asarray(adjacency)
        if cover is None or len(count) <= MANY_ROWS:
            target = shifted_mutual_information(contacts.astype(np.float64), count, window, negative)
        else:
            target = covered_mutual_information(contacts, cover, count, window, negative)
        axes = leading_axes(target, count, dimensions)
        features[:, : axes.shape[1]] = axes
    return features


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

    People outside have contacts inside only, so every walk from there goes on inside: with Z the columns inside of
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
    logarithms = np.zeros_like(total)
    return np.log(total, out=logarithms, where=total > 1.0)  # few are, and the logarithm is what takes time


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
    """All eigenpairs, or only the leading ones where that is faster and no choice between equal ones has to be made."""
    few = len(matrix) > MANY_ROWS and 0 < dimensions <= FEW_AXES
    return (leading_eigenpairs(matrix, dimensions) if few else None) or np.linalg.eigh(matrix)


def leading_eigenpairs(matrix: FloatArray, wanted: int) -> tuple[FloatArray, FloatArray] | None:
    """Eigenvalues of the largest sizes and their vectors; None unless these and the next one are clearly apart."""
    transposed = matrix.T  # column order for BLAS; the matrix is symmetric
    product = LinearOperator(matrix.shape, matvec=lambda vector: dsymv(1.0, transposed, vector), dtype=np.float64)
    start = product @ np.cos(np.sqrt(2.0) * np.arange(len(matrix)) ** 2)  # fixed, and zero where eigenvectors are
    if not start.any():
        return None
    try:
        values, vectors = eigsh(product, wanted + 1, v0=start, ncv=KRYLOV_VECTORS, tol=RESIDUAL)
    except ArpackNoConvergence:
        return None
    order = np.argsort(-np.abs(values))
    size = np.abs(values[order])
    if (size[:-1] - size[1:]).min() <= DISTINCT * size[0]:
        return None
    return values[order[:wanted]], vectors[:, order[:wanted]]


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
