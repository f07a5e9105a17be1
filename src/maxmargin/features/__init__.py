"""Kernels as features: k(x, z) ≈ φ(x)ᵀφ(z) with a φ that has few columns.

An exact machine on n rows meets n² kernel values. Where that is too many, an explicit φ of D
columns makes the machine linear: n D numbers, and all of it can be streamed.

Random Fourier features. A shift-invariant kernel is the characteristic function of its spectral
measure (Bochner): k(x − z) = E_ω cos(ωᵀ(x − z)). Frequencies drawn from it give

    φ(x) = √(2/D) cos(ωx + b),  b uniform in [0, 2π]      or, paired,  √(2/D) (cos ωx, sin ωx)

with E φ(x)ᵀφ(z) = k(x, z) and an error that falls as 1/√D, whatever the data are.

Nyström. With landmarks l_1 … l_m among the rows and K_mm = UΛUᵀ their kernel matrix,

    φ(x) = Λ^(−½) Uᵀ k(l, x)

is exact on the landmarks, and elsewhere the projection on their span: it depends on the data, and
for a kernel whose spectrum decays it needs far fewer columns.

References: A. Rahimi, B. Recht, Random features for large-scale kernel machines, NIPS 2007. F. Yu,
A. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar, Orthogonal random features, NIPS 2016.
C. Williams, M. Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.
C. Musco, C. Musco, Recursive sampling for the Nyström method, NIPS 2017.
"""

from maxmargin.features.fourier import RandomFourierFeatures
from maxmargin.features.nystroem import Nystroem

__all__ = ["Nystroem", "RandomFourierFeatures"]
