from maxmargin.hardware.arrays import Entries, Floats, Numbers, Reals

CPU: str

def best() -> str: ...
def mirror(out: Entries) -> None: ...
def smo(
    K: Entries,
    diagonal: Reals,
    gradient: Floats,
    beta: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    tol: float,
    max_steps: int,
) -> int: ...
def values_of(
    beta: Floats,
    gradient: Floats,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    sums: Floats,
    sides: Floats,
    offsets: Floats,
) -> tuple[float, float, float, float, float]: ...
def active_set(
    K: Floats,
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    beta: Floats,
    gradient: Floats,
    best: Floats,
    most_free: int,
) -> None: ...
def all_pairs(
    K: Entries,
    own: Floats,
    starts: Numbers,
    blocks: Numbers,
    classes: tuple[int, int, int, int],
    bounds: Floats,
    tol: float,
    most: tuple[int, int, int],
    coef: Floats,
    records: Floats,
    offsets: Floats,
    steps: Numbers,
    evaluations: Numbers,
) -> None: ...
