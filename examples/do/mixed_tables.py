"""
Mixed tables
============

Real tables have numbers of every size, words, and holes. A kernel measures distances, so each
column has to say how much it counts: **numbers are standardised, words become one column for each
value, holes are filled**. scikit-learn has all three, and the machine stands at the end.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from maxmargin import SVC

rng = np.random.default_rng(0)
n = 600
table = pd.DataFrame(
    {
        "income": rng.lognormal(10, 0.5, n),
        "age": rng.uniform(18, 80, n),
        "city": rng.choice(["Brno", "Praha", "Plzeň"], n),
    }
)
y = (table.age / 60 + (table.city == "Brno") + rng.normal(0, 0.3, n) > 1.3).astype(int)
table.loc[rng.random(n) < 0.1, "age"] = np.nan

numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
columns = make_column_transformer(
    (numbers, ["income", "age"]), (OneHotEncoder(handle_unknown="ignore"), ["city"])
)
unscaled = make_column_transformer(
    (SimpleImputer(), ["income", "age"]), (OneHotEncoder(), ["city"])
)
ways = {"as they are": unscaled, "scaled": columns}
scores = {k: cross_val_score(make_pipeline(v, SVC()), table, y).mean() for k, v in ways.items()}

# %%
# Left as they are, incomes in the ten thousands drown ages and cities.
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(list(scores), list(scores.values()))
ax.axvline(max(y.mean(), 1 - y.mean()), linestyle="--", color="gray", label="the larger class")
ax.set(xlabel="accuracy, five folds", xlim=(0.5, 1))
_ = ax.legend(loc="lower right")

# %%
# ``TabularSVC`` and ``TabularSVR`` make all these choices by validation, from the table as it
# comes. The whole pipeline goes into one model file with ``maxmargin.save``; in a terminal
# ``maxmargin train`` does all of this by itself.
