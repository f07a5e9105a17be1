"""
Into production
===============

A model leaves Python in one of two files. ``maxmargin.save`` writes arrays and a description, no
code: safe to load from strangers, bit by bit the same predictions. ``to_onnx`` writes a graph that
ONNX Runtime executes without Python, scalers and encoders included.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin.io import to_onnx

X, y = load_breast_cancer(return_X_y=True)
clf = make_pipeline(StandardScaler(), maxmargin.SVC(C=10)).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.maxmargin"
    maxmargin.save(clf, path)
    again = maxmargin.load(path)
    print(f"{path.stat().st_size / 1000:.0f} kB")
print("the same bits:", np.array_equal(again.decision_function(X), clf.decision_function(X)))

# %%
graph = onnxruntime.InferenceSession(to_onnx(clf).SerializeToString())
label, *rest = graph.run(None, {graph.get_inputs()[0].name: X})
print("the same classes in ONNX Runtime:", np.array_equal(label, clf.predict(X)))
values = dict(zip((o.name for o in graph.get_outputs()), [label, *rest], strict=True))

# %%
# What the runtime computes differs from Python in the last digits only.
theirs = next(v for v in rest if np.asarray(v).dtype.kind == "f").reshape(len(X), -1)[:, -1]
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.plot(clf.decision_function(X), theirs, ".")
ax.set(xlabel="decision value in Python", ylabel="in ONNX Runtime")
