"""The leading eigenpairs of a large symmetric matrix, where only a few are asked for.

Lanczos with full reorthogonalisation: an orthonormal basis of x, Mx, M²x, ... and the eigenpairs of M on it. There are
two starting vectors (the band form of Ruhe, 1979), since one alone shows an eigenvalue that occurs twice only once.
"""

import numpy as np
from scipy.linalg.blas import dsymv

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
