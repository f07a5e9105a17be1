"""`python -m benchmarks.explain`: exact Shapley values beside shap's KernelExplainer.

Both have the same machine, rows and background. KernelExplainer is given all 2^d coalitions, so
that its values are exact, too; seconds are CPU seconds of the process.
"""

from time import process_time

import numpy as np

from maxmargin import SVR, explain


def main() -> None:
    """Print agreement and CPU seconds for some numbers of columns."""
    from shap import KernelExplainer

    print("columns  rows  background  ours (CPU s)  KernelExplainer (CPU s)  largest difference")
    for d in (4, 6, 8, 10):
        rng = np.random.default_rng(d)
        X = rng.normal(size=(300, d))
        machine = SVR(C=10).fit(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2])
        rows, background = X[:10], X[:20]
        explain(machine, rows[:1], background=background)  # compiled
        start = process_time()
        ours = explain(machine, rows, background=background).values
        middle = process_time()
        explainer = KernelExplainer(machine.predict, background)
        theirs = explainer.shap_values(rows, nsamples=2**d, l1_reg=0, silent=True)
        seconds = middle - start, process_time() - middle
        difference = np.abs(ours - theirs).max()
        print(f"{d:7} {10:5} {20:11} {seconds[0]:13.3f} {seconds[1]:24.3f} {difference:19.1e}")


if __name__ == "__main__":
    main()
