"""
Probabilities
=============

A machine says on which side a row is, and how far, not how likely. Turning distances into
probabilities needs rows that were not trained on. Three ways, here on the same data:

- ``SVCCV`` has such rows anyway, from its search: calibrated at no cost;
- ``CalibratedClassifierCV(SVC())`` is scikit-learn's, and fits the machine five times more;
- ``SVC(probability=True)`` is LIBSVM's, kept for programs that use it.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from maxmargin import SVC, SVCCV

X, y = make_classification(3000, 6, n_informative=4, flip_y=0.2, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
ways = {
    "SVCCV": SVCCV(Cs=[0.1, 1, 10], gammas=[0.03, 0.1, 0.3]),
    "CalibratedClassifierCV(SVC())": CalibratedClassifierCV(SVC()),
}
figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
for name, way in ways.items():
    p = way.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    CalibrationDisplay.from_predictions(y_test, p, n_bins=8, name=name, ax=ax)
    print(f"{name}: Brier score {brier_score_loss(y_test, p):.4f}")

# %%
# A calibrated machine is on the diagonal: of the rows it gives 70 %, 70 % are of the class.
