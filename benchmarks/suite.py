"""The cases of each mode. A kind of work is a table of the report."""

from benchmarks.case import Case
from benchmarks.runner import Settings

OURS = ("maxmargin-32", "maxmargin-64")
BLOCKS = (*OURS, "intelex-32", "intelex-64")  # libraries that solve by blocks
QUICK_PEERS = (*BLOCKS, "scikit-learn")  # LIBSVM and ThunderSVM take as long as it, or longer


def at(
    costs: tuple[float, ...],
    kind: str,
    data: str,
    gamma: float,
    n: int | None = None,
    only: tuple[str, ...] = (),
) -> list[Case]:
    return [Case(kind, data, n, C=C, gamma=gamma, only=only) for C in costs]


def linear(data: str, costs: tuple[float, ...] = (1,), n: int | None = None) -> list[Case]:
    return [
        Case("linear", data, n, "LinearSVC", C=C, loss=loss, tol=tol)
        for C in costs
        for loss in ("hinge", "squared_hinge")
        for tol in (1e-3, 1e-5)
    ]


def l1(data: str, costs: tuple[float, ...], n: int | None = None) -> list[Case]:
    return [
        Case("linear", data, n, "LinearSVC", C=C, loss="squared_hinge", penalty="l1", tol=tol)
        for C in costs
        for tol in (1e-3, 1e-5)
    ]


def crammer_singer(data: str, costs: tuple[float, ...], n: int | None = None) -> list[Case]:
    return [
        Case("linear", data, n, "LinearSVC", C=C, loss="crammer_singer", tol=tol)
        for C in costs
        for tol in (1e-3, 1e-5)
    ]


def kernels(n: int) -> list[Case]:
    """Multiples and sums beside their parts; half the kernel at twice the C is the same problem."""
    weights = [(1.0, 0.0, 1.0), (0.5, 0.0, 2.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0)]
    return [
        Case("kernels", "narrow", n, C=C, gamma=1 / 40, rbf=rbf, linear=linear, only=OURS)
        for rbf, linear, C in weights
    ]


def tiny() -> list[Case]:
    """Seconds: for the tests."""
    return [
        Case("train", "narrow", 200, gamma=1 / 40),
        Case("sparse", "text", 100),
        Case("multiclass", "iris", 150, gamma=0.25),
        Case("SVR", "friedman", 100, "SVR", gamma=0.1),
        Case("one-class", "novelty", 100, "OneClassSVM", gamma=0.1),
        Case("linear", "narrow", 200, "LinearSVC", C=0.1),
        Case("linear", "narrow", 200, "LinearSVC", loss="squared_hinge", penalty="l1"),
        Case("linear", "iris", 150, "LinearSVC", loss="crammer_singer"),
        Case("small", "breast_cancer", 569, gamma=1 / 30),
        Case("memory", "narrow", 1_000, gamma=1 / 40, cache="default", only=("scikit-learn",)),
        Case("cold", "narrow", 200, gamma=1 / 40, only=("scikit-learn",)),
        *kernels(200),
        *(Case("scaling", "narrow", n, gamma=1 / 40) for n in (100, 200, 400)),
    ]


def quick() -> list[Case]:
    """Two minutes: generated data, nothing that takes a peer long."""
    return [
        *at((1, 100), "train", "narrow", 1 / 40, n=5_000, only=QUICK_PEERS),
        *at((1,), "train", "wide", 1 / 500, n=1_500, only=QUICK_PEERS),
        *at((1,), "train", "imbalanced", 1 / 22, n=5_000, only=QUICK_PEERS),
        *at((1,), "sparse", "text", 1.0, n=3_000, only=QUICK_PEERS),
        Case("multiclass", "ten_classes", 5_000, C=10, gamma=1 / 16),
        Case("SVR", "friedman", 5_000, "SVR", gamma=1 / 10),
        Case("one-class", "novelty", 5_000, "OneClassSVM", gamma=1 / 10),
        Case("linear", "text", 5_000, "LinearSVC", loss="hinge"),
        Case("linear", "narrow", 5_000, "LinearSVC", C=0.01, loss="squared_hinge"),
        *l1("text", (1,), n=5_000),
        *l1("narrow", (0.1,), n=5_000),
        *crammer_singer("ten_classes", (0.1,), n=5_000),
        *at((1,), "small", "iris", 0.25, n=150, only=QUICK_PEERS),
        *at((1,), "small", "narrow", 1 / 40, n=1_000, only=QUICK_PEERS),
        *kernels(5_000),
        Case("memory", "imbalanced", 10_000, gamma=1 / 22, cache="default", only=BLOCKS),
        Case("cold", "narrow", 2_000, gamma=1 / 40, only=OURS),
        *(
            Case("scaling", "narrow", n, gamma=1 / 40, only=QUICK_PEERS)
            for n in (1_000, 2_000, 4_000)
        ),
    ]


def full() -> list[Case]:
    """The whole comparison, on real data too; over an hour."""
    return [
        *at((1, 100), "train", "narrow", 1 / 40, n=10_000),
        *at((1, 100), "train", "imbalanced", 1 / 22, n=20_000, only=QUICK_PEERS),
        *at((1, 100), "train", "covtype", 1.0, n=20_000, only=QUICK_PEERS),
        *at((1, 100), "train", "cover", 0.1, n=50_000, only=QUICK_PEERS),
        *at((1, 100), "train", "a9a_dense", 1 / 123, only=QUICK_PEERS),
        *at((1, 100), "train", "wide", 1 / 500, n=5_000),
        *at((1, 100), "train", "mnist_3v8", 0.02, only=QUICK_PEERS),
        *at((1, 100), "train", "mnist_odd", 0.02, n=20_000, only=QUICK_PEERS),
        *at((1,), "sparse", "a9a", 1 / 123, only=(*BLOCKS, "libsvm")),
        *at((100,), "sparse", "a9a", 1 / 123, only=BLOCKS),  # LIBSVM takes minutes a fit
        *at((1, 100), "sparse", "reuters", 1.0, only=(*BLOCKS, "libsvm")),
        *at((1, 100), "sparse", "text", 1.0, n=10_000, only=(*BLOCKS, "libsvm")),
        Case("multiclass", "letter", C=10, gamma=1.0, only=QUICK_PEERS),
        Case("multiclass", "pendigits", C=10, gamma=1.0, only=QUICK_PEERS),
        Case("multiclass", "mnist", C=10, gamma=0.02, only=BLOCKS),
        Case("SVR", "california_housing", machine="SVR", gamma=1 / 8, only=QUICK_PEERS),
        Case("SVR", "abalone", machine="SVR", C=10, gamma=1 / 8, only=QUICK_PEERS),
        Case("SVR", "friedman", 20_000, "SVR", gamma=1 / 10, only=QUICK_PEERS),
        Case("one-class", "novelty", 20_000, "OneClassSVM", gamma=1 / 10, only=QUICK_PEERS),
        Case("one-class", "cover", 20_000, "OneClassSVM", gamma=0.1, only=QUICK_PEERS),
        *linear("a9a"),
        *linear("reuters"),
        *linear("text", n=20_000),
        *linear("narrow", (0.01, 1), n=50_000),
        *l1("a9a", (0.01, 1)),
        *l1("reuters", (1,)),
        *l1("text", (0.1, 1), n=20_000),
        *l1("narrow", (0.01, 1), n=50_000),
        *l1("wide", (0.1,), n=5_000),
        *crammer_singer("letter", (0.1, 1)),
        *crammer_singer("pendigits", (0.1, 1)),
        *small(),
        *(
            Case("memory", "narrow", 50_000, gamma=1 / 40, cache=cache, only=BLOCKS)
            for cache in ("default", "matrix")
        ),
        Case("cold", "narrow", 10_000, gamma=1 / 40, only=OURS),
        *kernels(10_000),
        *(
            Case("scaling", "narrow", n, gamma=1 / 40, only=QUICK_PEERS)
            for n in (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
        ),
        *at((1, 100), "ablation", "narrow", 1 / 40, n=10_000),
        *at((1, 100), "ablation", "wide", 1 / 500, n=5_000),
        *at((1, 100), "ablation", "text", 1.0, n=5_000),
    ]


def small() -> list[Case]:
    return [
        *at((1, 100), "small", "iris", 0.25, n=150),
        *at((1, 100), "small", "breast_cancer", 1 / 30, n=569),
        *at((1, 100), "small", "narrow", 1 / 40, n=200),
        *(
            case
            for n in (500, 1_000, 1_500, 2_000, 2_500)
            for case in at((1, 100), "small", "narrow", 1 / 40, n=n)
        ),
    ]


MODES = {
    "tiny": (tiny, Settings(repeats=2, budget=0.5, limit=20.0)),
    "quick": (quick, Settings(repeats=7, budget=0.3, limit=20.0)),
    "full": (full, Settings(repeats=5, budget=4.0, limit=120.0)),
}
