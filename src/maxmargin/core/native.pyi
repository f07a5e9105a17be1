from maxmargin.hardware.arrays import Entries, Floats, Mask, Numbers, Reals

CPU: str
BLOCK: int
GROUP: int
PANEL: dict[int, int]
SPARSE_PANEL: dict[int, int]
LEAST: dict[int, float]

class RowMaker:
    @property
    def made(self) -> Mask: ...
    def make(self, K: Reals, number: int) -> None: ...

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
