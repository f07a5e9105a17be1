"""What others may ask of a kernel, and what it answers unless it says otherwise: no promise.

Whether its values lie in [0, 1], whether it is translation invariant, which tile computes it
(`forms`), what its spectral measure is (`frequencies`): so that nobody asks which class it is of.
"""

from __future__ import annotations

from dataclasses import dataclass

from maxmargin.kernels.form import Form
from maxmargin.resources.arrays import Floats, Random, Reals


@dataclass(frozen=True)
class Promises:
    """The questions, each with the answer of a kernel of which nothing is known."""

    @property
    def forms(self) -> tuple[Form, ...] | None:
        """Terms factor · f(t) whose sum is k, which tiles compute; None if it is no such sum."""
        return None

    @property
    def column_products(self) -> tuple[tuple[float, float, float], ...] | None:
        """Terms (c, s, a) with k(x, z) = Σ c Π_j exp(−s (x_j − z_j)² − a |x_j − z_j|).

        None if the kernel is no sum of products over columns.
        """
        return None

    @property
    def in_unit_interval(self) -> bool:
        """Whether 0 ≤ k(x, z) ≤ 1 for all rows."""
        return False

    @property
    def translation_invariant(self) -> bool:
        """Whether k(x, z) depends on x − z only."""
        return False

    @property
    def positive_definite(self) -> bool | None:
        """True if every kernel matrix is positive semidefinite, by a theorem; None if unknown."""
        return None

    @property
    def is_linear(self) -> bool:
        """Whether k(x, z) = c xᵀz; c is then the scale of its only form."""
        return False

    @property
    def radial(self) -> bool:
        """Whether k(x, z) tells ‖x − z‖: then `squared_distances` does."""
        return False

    @property
    def precomputed(self) -> bool:
        """Whether X is a kernel matrix, computed elsewhere, instead of data."""
        return False

    @property
    def takes_objects(self) -> bool:
        """Whether rows may be anything (strings, graphs), and are passed on as they are.

        A kernel of one's own is given what its machine is given, unless it sets this to False.
        """
        return True

    def frequencies(
        self, count: int, columns: int, random: Random, *, orthogonal: bool = False
    ) -> Floats:
        """Vectors ω drawn from the spectral measure: k(x, z) = E cos(ωᵀ(x − z)).

        Orthogonal ones are so in groups of as many as there are columns.

        Returns
        -------
        ndarray of shape (count, columns)
        """
        raise ValueError(
            f"kernel={self!r} has no spectral measure to draw frequencies from: Fourier features "
            "exist for 'rbf' and 'laplacian' and their products; Nystroem takes any kernel"
        )

    def squared_distances(self, values: Reals) -> Reals:
        """‖x − z‖² from k(x, z), of a kernel that is `radial`."""
        raise TypeError(f"{type(self).__name__} does not tell distances")
