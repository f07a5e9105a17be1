"""
With optuna
===========

optuna searches where a grid does not fit: here over C, γ and the weight of a second kernel. For C
and γ alone ``tune`` is faster, since it shares the kernel matrix between cells.
"""

import matplotlib.pyplot as plt
import optuna
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC
from maxmargin.kernels import RBF, Linear

X, y = load_breast_cancer(return_X_y=True)
optuna.logging.set_verbosity(optuna.logging.WARNING)


def score(trial):
    """Accuracy in five folds."""
    C = trial.suggest_float("C", 1e-2, 1e3, log=True)
    gamma = trial.suggest_float("gamma", 1e-4, 1e-1, log=True)
    weight = trial.suggest_float("weight", 1e-3, 1e1, log=True)
    machine = SVC(C=C, kernel=RBF(gamma=gamma) + weight * Linear())
    return cross_val_score(make_pipeline(StandardScaler(), machine), X, y).mean()


study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
study.optimize(score, n_trials=40)
print(f"{study.best_value:.2%} at", {k: round(v, 4) for k, v in study.best_params.items()})

# %%
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
trials = [(t.params["C"], t.params["gamma"], t.value) for t in study.trials]
marks = ax.scatter(*zip(*((C, g) for C, g, _ in trials), strict=True), c=[v for *_, v in trials])
ax.set(xscale="log", yscale="log", xlabel="C", ylabel="γ", title="40 trials")
_ = figure.colorbar(marks, label="accuracy")
