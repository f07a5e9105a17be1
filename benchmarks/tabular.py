"""`python -m benchmarks.tabular`: TabularSVC and TabularSVR beside other learners, on tables.

    python -m benchmarks.tabular                                      # one seed, 500 rows
    python -m benchmarks.tabular --seeds 0 1 2 3 4 --rows 1000 10000  # the full measurement
    python -m benchmarks.tabular --report                             # of what tabular.csv has

Each learner is given the same rows to learn from and to predict. HistGradientBoosting is searched
at random, with three folds, for as many CPU seconds as our machine took, the default first.
What is measured already is not measured again, so that a run can be stopped and continued. Sets
come in two halves: on DEVELOPED ours was designed; on the others it was only judged.
"""

import argparse
import csv
import os
import platform
import warnings
from itertools import count
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import sklearn
from scipy.stats import rankdata, studentized_range
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import (
    GridSearchCV,
    ParameterSampler,
    cross_val_score,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from maxmargin import SVCCV, SVRCV, TabularSVC, TabularSVR
from maxmargin.selection.tabular import CS, GAMMAS

HERE = Path(__file__).parent
DEVELOPED = (
    *("ailerons", "australian", "car", "credit-g", "diabetes", "german", "kin8nm", "mushroom"),
    *("parkinsons", "segment", "sonar", "splice", "svmguide3", "vowel", "airfoil"),
    *("abalone", "cod-rna", "pendigits", "skin_nonskin", "ijcnn1", "digits"),
)
JUDGED = (
    *("bank8FM", "concrete", "delta-ailerons", "energy", "keggdirected", "kr-vs-kp"),
    *("mv", "pumadyn32nm", "skillcraft", "vehicle", "wine"),
    *("california_housing", "letter", "covtype_93k", "kin40k", "cover_adbench", "breast_cancer"),
)
NUMBERS = ("skillcraft", "wine", "abalone")  # targets of few values that are quantities
SPACE = {
    "learning_rate": np.geomspace(0.02, 0.3, 20),
    "max_iter": np.arange(60, 400),
    "max_leaf_nodes": np.arange(4, 64),
    "min_samples_leaf": np.arange(2, 60),
    "l2_regularization": np.geomspace(1e-3, 10, 20),
    "max_features": [0.3, 0.6, 1.0],
}
LEARNERS = (
    *("tabular", "searched RBF", "boosting", "searched boosting"),
    *("forest", "extra trees", "k-NN"),
)
HELD_OUT = 2000
FIELDS = ("set", "half", "task", "asked", "rows", "columns", "seed", "learner", "score", "seconds")


def load(name):
    """X, y, the columns that are categories, and whether y is a quantity."""
    bundled = {"digits": load_digits, "breast_cancer": load_breast_cancer}
    if name in bundled:
        X, y = bundled[name](return_X_y=True)
        return X, y, [], False
    folder = Path(os.environ["MAXMARGIN_DATA"])
    path = folder / "tabular" / f"{name}.npz"
    with np.load(path if path.exists() else folder / f"{name}.npz") as file:
        X, y = file["X"].astype(float), file["y"]
        categories = file["categorical"].astype(int).tolist() if "categorical" in file else []
    quantity = name in NUMBERS or len(np.unique(y)) > 30
    return X, y.astype(float) if quantity else y, categories, quantity


def encoded(categories):
    """Standardised numbers, one-hot categories."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer([("words", one_hot, categories)], remainder=StandardScaler())


def searched_boosting(kind, X, y, categories, seconds):
    """The best of a random search of as many seconds, the default among them."""
    began, best = process_time(), (-np.inf, {})
    draws = iter(ParameterSampler(SPACE, 10_000, random_state=0))
    for number in count():
        given = {} if number == 0 else next(draws)
        machine = kind(categorical_features=categories or None, random_state=0, **given)
        score = cross_val_score(machine, X, y, cv=3, error_score=-np.inf).mean()
        best = max(best, (score, given), key=lambda each: each[0])
        if process_time() - began >= seconds:
            break
    machine = kind(categorical_features=categories or None, random_state=0, **best[1])
    return machine.fit(X, y)


def fits(X, y, categories, quantity):
    """A name and a function that fits, for each learner; the function takes our seconds."""
    boosting = HistGradientBoostingRegressor if quantity else HistGradientBoostingClassifier
    forest = RandomForestRegressor if quantity else RandomForestClassifier
    extra = ExtraTreesRegressor if quantity else ExtraTreesClassifier
    neighbours = KNeighborsRegressor if quantity else KNeighborsClassifier
    ours = TabularSVR if quantity else TabularSVC
    columns = encoded(categories)
    gammas = GAMMAS / (2 * X.shape[1])  # the median of standardised rows is near 2d
    plain = SVRCV(Cs=CS, gammas=gammas, cv=3, n_jobs=1, epsilon=0.05)
    if not quantity:
        plain = SVCCV(Cs=CS, gammas=gammas, cv=3, n_jobs=1, calibration=None)
    # Its histograms have room for 255 values of a category.
    fine = [column for column in categories if X[:, column].max() < 255]
    near = GridSearchCV(
        make_pipeline(columns, neighbours()),
        {f"{neighbours.__name__.lower()}__n_neighbors": [1, 3, 5, 10, 20]},
        cv=3,
    )
    yield "tabular", lambda _: ours(categorical=categories, n_jobs=1, random_state=0).fit(X, y)
    yield "searched RBF", lambda _: make_pipeline(columns, plain).fit(X, y)
    yield (
        "boosting",
        lambda _: boosting(categorical_features=fine or None, random_state=0).fit(X, y),
    )
    yield "searched boosting", lambda given: searched_boosting(boosting, X, y, fine, given)
    yield "forest", lambda _: make_pipeline(columns, forest(300, random_state=0)).fit(X, y)
    yield "extra trees", lambda _: make_pipeline(columns, extra(300, random_state=0)).fit(X, y)
    yield "k-NN", lambda _: near.fit(X, y)


def measure(name, rows, seed):
    """A record for each learner on one set."""
    X, y, categories, quantity = load(name)
    train = min(rows, len(y) * 2 // 3)
    X, new, y, truth = train_test_split(
        X,
        y,
        train_size=train,
        test_size=min(HELD_OUT, len(y) - train),
        random_state=seed,
        stratify=None if quantity else y,
    )
    if quantity:
        mean, spread = y.mean(), y.std()
        y, truth = (y - mean) / spread, (truth - mean) / spread
    ours = 0.0
    for learner, fit in fits(X, y, categories, quantity):
        began = process_time()
        machine = fit(ours)
        seconds = process_time() - began
        ours = seconds if learner == "tabular" else ours
        yield {
            "set": name,
            "half": "judged" if name in JUDGED else "developed",
            "task": "R²" if quantity else "accuracy",
            "asked": rows,
            "rows": train,
            "columns": X.shape[1],
            "seed": seed,
            "learner": learner,
            "score": round(float(machine.score(new, truth)), 5),
            "seconds": round(seconds, 2),
        }


def run(names, rows, seeds, path):
    """Measure what the file has not, and append it."""
    if not path.exists():
        path.write_text(",".join(FIELDS) + "\n")
    known = {(each["set"], each["asked"], each["seed"]) for each in records(path)}
    for seed, most, name in ((s, r, n) for s in seeds for r in rows for n in names):
        if (name, str(most), str(seed)) in known:
            continue
        found = list(measure(name, most, seed))
        with path.open("a") as file:
            csv.DictWriter(file, FIELDS, lineterminator="\n").writerows(found)
        print(name, most, seed, *(f"{e['learner']} {e['score']:.4f}" for e in found), flush=True)


def records(path):
    """The records of a file."""
    with path.open() as file:
        return list(csv.DictReader(file))


def report(path):
    """Write TABULAR.md and tabular.png from the records of a file."""
    found = pd.read_csv(path)
    count = found.groupby(["set", "asked", "seed"])["learner"].transform("count")
    found = found[count == len(LEARNERS)]
    cells = found.groupby(["half", "set", "asked", "task", "learner"])["score"].mean()
    wide = cells.unstack()[[*LEARNERS]]
    ranks = pd.DataFrame(rankdata(-wide, axis=1), wide.index, wide.columns)
    seconds = found.groupby("learner")["seconds"].median()
    figure(ranks, HERE / "tabular.png")
    text = [
        "# Tables: TabularSVC and TabularSVR beside other learners",
        "",
        f"`python -m benchmarks.tabular` on {platform.machine()}, {os.cpu_count()} cores, one "
        f"thread for each learner, Python {platform.python_version()}, scikit-learn "
        f"{sklearn.__version__}, NumPy {np.__version__}. Rows asked for: "
        f"{', '.join(map(str, sorted(found['asked'].unique())))}; seeds: "
        f"{', '.join(map(str, sorted(found['seed'].unique())))}; up to {HELD_OUT} held-out rows; "
        f"{wide.index.get_level_values('set').nunique()} of {len(JUDGED + DEVELOPED)} tables. "
        "Written by `python -m benchmarks.tabular --report` from tabular.csv.",
        "",
        "The design was developed on half of the tables; on the other half it was only judged. "
        "The budget of the searched boosting is what `tabular` took, in CPU seconds.",
        "",
    ]
    for half in ("judged", "developed"):
        if half not in wide.index.get_level_values("half"):
            continue
        some, own = wide.loc[half], ranks.loc[half]
        versus = (some["tabular"] > some["searched boosting"]).sum()
        plain = (some["tabular"] - some["searched RBF"]).min()
        text += [
            f"## Tables that the design was {half} on: {len(some)}",
            "",
            f"| | {' | '.join(LEARNERS)} |",
            f"|---|{'---|' * len(LEARNERS)}",
            line("mean rank", own.mean(), "{:.2f}"),
            line("first", (own == 1).sum(), "{:.0f}"),
            "",
            f"`tabular` is ahead of searched boosting on {versus} of {len(some)}; its largest loss "
            f"against the searched RBF is {max(0, -plain):.3f}.",
            "",
            f"| set | rows | score | {' | '.join(LEARNERS)} |",
            f"|---|---|---|{'---|' * len(LEARNERS)}",
        ]
        for (name, asked, task), values in some.iterrows():
            best = values.max()
            shown = (f"**{v:.3f}**" if v == best else f"{v:.3f}" for v in values)
            text.append(f"| {name} | {asked} | {task} | {' | '.join(shown)} |")
        text.append("")
    text += [
        "## CPU seconds",
        "",
        f"| | {' | '.join(LEARNERS)} |",
        f"|---|{'---|' * len(LEARNERS)}",
        line("median", seconds[[*LEARNERS]], "{:.2f}"),
        "",
        "![mean ranks, with the critical difference](tabular.png)",
        "",
        "Shaded is the critical difference of Nemenyi's test at 5%: learners there are not told "
        "apart from the first by so many tables.",
        "",
    ]
    (HERE / "TABULAR.md").write_text("\n".join(text))


def line(name, values, form):
    """A line of a table."""
    return f"| {name} | {' | '.join(form.format(value) for value in values)} |"


def figure(ranks, path):
    """Mean ranks of all tables on a line, with Nemenyi's critical difference at 5%."""
    import matplotlib.pyplot as plt

    count, n = len(LEARNERS), len(ranks)
    q = studentized_range.ppf(0.95, count, np.inf) / np.sqrt(2)
    critical = q * np.sqrt(count * (count + 1) / (6 * n))
    means = ranks.mean().sort_values()
    drawing, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    axes.hlines(range(count), means.iloc[0], means, color="0.8")
    axes.plot(means, range(count), "o", color="C0")
    axes.axvspan(means.iloc[0], means.iloc[0] + critical, color="C1", alpha=0.15)
    axes.set_yticks(range(count), [f"{name}  {rank:.2f}" for name, rank in means.items()])
    axes.invert_yaxis()
    axes.set_xlabel(f"mean rank on {n} tables: 1 is best\nshaded: not told apart from the first")
    drawing.savefig(path, dpi=150)


def main() -> None:
    """Measure, or report what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*JUDGED, *DEVELOPED])
    parser.add_argument("--rows", nargs="+", type=int, default=[500])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--csv", type=Path, default=HERE / "tabular.csv")
    parser.add_argument("--report", action="store_true", help="only report what the file has")
    given = parser.parse_args()
    if not given.report:
        run(given.sets, given.rows, given.seeds, given.csv)
    report(given.csv)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
