"""
Explain a prediction
====================

``explain`` computes Shapley values of an RBF machine exactly, over all coalitions of columns, where
samplers take long and stay noisy. They say how much each column moves a prediction away from the
mean.
"""

import matplotlib.pyplot as plt
import shap
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from maxmargin import SVR, explain
from maxmargin.plots import ExplanationDisplay

data = load_diabetes(as_frame=True, scaled=False)
X = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
reg = SVR(C=100, gamma=0.02).fit(X, data.target)
found = explain(reg, X.iloc[:100], background=X.iloc[::10])
print(f"values and mean add up to the prediction within {found.error:.0e}")

# %%
figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
_ = ExplanationDisplay.from_explanation(found, kind="beeswarm", ax=ax)

# %%
# **With shap.** The same values as a ``shap.Explanation``, for all of shap's pictures: here one
# row.
_ = shap.plots.waterfall(found.to_shap()[0], show=False)
