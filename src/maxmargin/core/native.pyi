from maxmargin.resources.arrays import Data, Entries, Floats, Mask, Numbers, Reals

CPU: str
UNIT: int  # what 1 is stored as where entries in [0, 1] have 16 bits
BLOCK: int
GROUP: int
PANEL: dict[int, int]
SPARSE_PANEL: dict[int, int]
LEAST: dict[int, float]

class RowMaker:
    @property
    def made(self) -> Mask: ...
    def make(self, K: Reals, number: int) -> None: ...

class DataRows:
    def __init__(self, *parts: Data) -> None: ...

class SweepState:
    offset: float
    total: float
    mean_score: float
    highest: float
    lowest: float
    violation: float
    gap: float
    active: int
    random: int

class ClassesState:
    pinned: float
    distant: float
    drift: float
    violation: float
    gap: float
    active: int
    random: int

def best() -> str: ...
def row_maker(
    made: Mask, panels: Reals, rows: Reals, power: int | None, factor: float
) -> RowMaker: ...
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
    maker: RowMaker = ...,
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
def follow(
    tableau: tuple[Floats, Floats, Numbers, int],
    optimum: tuple[Numbers, Floats, Floats],
    tolerances: tuple[float, float],
    removed: Numbers,
    stairs: Floats,
    lacking: Floats,
    betas: Floats,
    rounds: Numbers,
) -> None: ...
def lay(
    X: Reals,
    numbers: Numbers,
    shift: Floats,
    scale: float,
    a: float,
    b: float,
    c: float,
    d: float,
    start: int,
    stop: int,
    out: Reals,
) -> None: ...
def dense_fill(
    panels: Reals,
    rows: Reals,
    power: int | None,
    factor: float,
    half: bool,
    add: bool,
    top: int,
    bottom: int,
    start: int,
    stop: int,
    out: Entries,
) -> None: ...
def dense_weigh(
    panels: Reals,
    rows: Reals,
    coef: Reals,
    power: int | None,
    start: int,
    stop: int,
    out: Floats,
) -> None: ...
def count_nonzero(X: Reals, start: int, stop: int, counts: Numbers) -> None: ...
def compress(
    X: Reals, start: int, stop: int, starts: Numbers, columns: Numbers, values: Reals
) -> None: ...
def scatter(
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    numbers: Numbers,
    start: int,
    stop: int,
    panels: Reals,
) -> None: ...
def copy_rows(
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    width: int,
    numbers: Numbers,
    scale: float,
    square: float,
    offset: float,
    start: int,
    stop: int,
    to: Numbers,
    to_columns: Numbers,
    to_values: Reals,
) -> None: ...
def sparse_fill(
    panels: Reals,
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    power: int | None,
    factor: float,
    half: bool,
    add: bool,
    top: int,
    bottom: int,
    start: int,
    stop: int,
    out: Entries,
) -> None: ...
def sparse_weigh(
    panels: Reals,
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    coef: Reals,
    power: int | None,
    start: int,
    stop: int,
    out: Floats,
) -> None: ...
def index_lay(
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    numbers: Numbers,
    common: Numbers,
    start: int,
    stop: int,
    width: int,
    full: Reals,
    firsts: Numbers,
    lasts: Numbers,
    names: Numbers,
    list_starts: Numbers,
    members: Numbers,
    entries: Reals,
) -> None: ...
def index_copy(
    starts: Numbers,
    columns: Numbers,
    values: Reals,
    numbers: Numbers,
    common: Numbers,
    full: int,
    scale: float,
    square: float,
    offset: float,
    start: int,
    stop: int,
    to: Numbers,
    middles: Numbers,
    stops: Numbers,
    to_columns: Numbers,
    to_values: Reals,
) -> None: ...
def index_fill(
    width: int,
    full: Reals,
    firsts: Numbers,
    lasts: Numbers,
    names: Numbers,
    list_starts: Numbers,
    members: Numbers,
    entries: Reals,
    starts: Numbers,
    middles: Numbers,
    stops: Numbers,
    columns: Numbers,
    values: Reals,
    power: int | None,
    factor: float,
    half: bool,
    add: bool,
    start: int,
    stop: int,
    out: Reals,
) -> None: ...
def index_weigh(
    width: int,
    full: Reals,
    firsts: Numbers,
    lasts: Numbers,
    names: Numbers,
    list_starts: Numbers,
    members: Numbers,
    entries: Reals,
    starts: Numbers,
    middles: Numbers,
    stops: Numbers,
    columns: Numbers,
    values: Reals,
    coef: Reals,
    power: int | None,
    start: int,
    stop: int,
    out: Floats,
) -> None: ...
def add_rows(
    rows: Reals, places: Numbers, coef: Reals, out: Floats, start: int, stop: int
) -> None: ...
def gather_entries(
    rows: Entries,
    lines: Numbers,
    columns: Numbers,
    into: Numbers,
    out: Entries,
    start: int,
    stop: int,
) -> None: ...
def complete(
    values: Entries,
    place: Numbers,
    present: Numbers,
    missing: Numbers,
    entries: Entries,
    start: int,
    stop: int,
) -> None: ...
def scores(rows: DataRows, w: Floats, out: Floats) -> None: ...
def scores_of(rows: DataRows, some: Numbers, w: Floats, out: Floats) -> None: ...
def combine(rows: DataRows, beta: Floats, out: Floats) -> None: ...
def add(rows: DataRows, some: Numbers, coef: Floats, w: Floats) -> None: ...
def squared_norms(rows: DataRows, out: Floats) -> None: ...
def add_products(rows: DataRows, weights: Floats, products: Floats) -> None: ...
def sweep(
    rows: DataRows,
    variables: Floats,
    problem: tuple[float, float, float],
    w: Floats,
    order: Numbers,
    state: SweepState,
    target: float,
    work: int,
) -> int: ...
def minimise_on_face(
    rows: DataRows,
    x: Floats,
    slope: Floats,
    q: Floats,
    lower: Floats,
    upper: Floats,
    sum_stays: bool,
    remaining: float,
    rounding: float,
) -> None: ...
def descend_l1(H: Floats, x: Floats, slope: Floats, enough: float, sweeps: int) -> float: ...
def sweep_classes(
    rows: DataRows,
    alpha: Floats,
    live: Numbers,
    live_count: Numbers,
    table: Floats,
    classes: Floats,
    problem: tuple[float, float, float],
    W: Floats,
    order: Numbers,
    state: ClassesState,
    target: float,
    work: int,
) -> int: ...
def best_row(alpha: Floats, G: Floats, cost: float, square: float, step: Floats) -> None: ...
def perceptron_epoch(
    rows: DataRows, labels: Numbers, weights: Floats, W: Floats, b: Floats, one: float
) -> int: ...
def feature_scores(Z: Reals, numbers: Numbers, w: Floats, out: Floats) -> None: ...
def combine_features(Z: Reals, numbers: Numbers, beta: Floats, out: Floats) -> None: ...
def clipped_sum(reach: Floats, along: Floats, lower: Floats, upper: Floats, t: float) -> float: ...
def add_sides(parts: Floats, decisions: Floats) -> None: ...
def count_votes(decisions: Floats, votes: Floats, values: Floats) -> None: ...
def asymmetry(K: Reals) -> tuple[int, int]: ...
def largest_minor(K: Reals, scales: Reals) -> tuple[int, int]: ...
def shapley_sums(
    p: Floats, q: Floats, coef: Floats, nodes: Floats, weights: Floats, values: Floats
) -> None: ...
def powers(t: Reals, gamma: float, factor: float, K: Reals, start: int, stop: int) -> None: ...
def held_blocks(
    K: Entries,
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    beta: Floats,
    f: Floats,
    space: Reals,
    most: int,
    aim: float,
    limit: int,
) -> int: ...
