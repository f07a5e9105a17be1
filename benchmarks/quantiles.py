"""`python -m benchmarks.quantiles`: quantiles of held-out rows, by three libraries' machines.

Coverage is the share of held-out targets between the 5% and the 95% curve: 0.9 is right. Loss
is the mean pinball loss over the levels, in units of the target's standard deviation. C and γ of
ours are chosen by three folds of the training rows.
"""

import os
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

from maxmargin import QuantileSVR

LEVELS = (0.05, 0.5, 0.95)
SETS = ("concrete", "airfoil", "energy", "kin8nm", "wine", "parkinsons")
ROWS = 2000  # at most, of each set for training


def ours(X, y, new):
    """QuantileSVR."""
    grid = {"C": [0.3, 3.0, 30.0], "gamma": [0.3 / X.shape[1], 1 / X.shape[1]]}
    search = GridSearchCV(QuantileSVR(quantiles=LEVELS, noncrossing=True), grid, cv=3).fit(X, y)
    return search.predict(new).T


def boosting(X, y, new):
    """GradientBoostingRegressor, one for each level."""
    machines = [GradientBoostingRegressor(loss="quantile", alpha=q, random_state=0) for q in LEVELS]
    return np.array([machine.fit(X, y).predict(new) for machine in machines])


def linear(X, y, new):
    """QuantileRegressor without a penalty, one for each level."""
    machines = [QuantileRegressor(quantile=q, alpha=0) for q in LEVELS]
    return np.array([machine.fit(X, y).predict(new) for machine in machines])


def main() -> None:
    """Print coverage, loss and CPU seconds of each on each set."""
    print("set         rows  machine   coverage   loss  CPU s")
    for name in SETS:
        with np.load(
            Path(os.environ["MAXMARGIN_DATA"]) / "tabular" / f"{name}.npz", allow_pickle=False
        ) as file:
            X, y = file["X"].astype(float), file["y"].astype(float)
        y = (y - y.mean()) / y.std()
        rows = min(ROWS, len(y) * 2 // 3)
        X, new, y, truth = train_test_split(X, y, train_size=rows, random_state=0)
        scaler = StandardScaler().fit(X)
        X, new = scaler.transform(X), scaler.transform(new)
        for fit in (ours, boosting, linear):
            start = process_time()
            low, middle, high = fit(X, y, new)
            seconds = process_time() - start
            lines = zip((low, middle, high), LEVELS, strict=True)
            loss = np.mean([mean_pinball_loss(truth, line, alpha=q) for line, q in lines])
            coverage = np.mean((low <= truth) & (truth <= high))
            print(
                f"{name:11} {rows:4}  {fit.__name__:8} {coverage:9.3f} {loss:6.4f} {seconds:6.1f}"
            )


if __name__ == "__main__":
    main()
