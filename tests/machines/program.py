"""A user's program, in scikit-learn's terms; `test_programs.py` runs it with both libraries."""

import pickle

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM


def main():
    np.set_printoptions(precision=3, suppress=True)
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]

    print("repr", SVC(C=2.0, kernel="poly"))
    pipeline = make_pipeline(StandardScaler(), SVC(C=10.0))
    print("cross validation", cross_val_score(pipeline, X, names, cv=3))
    choices = {"svc__C": [0.01, 1, 100], "svc__kernel": ["rbf", "linear"]}
    search = GridSearchCV(pipeline, choices, cv=3).fit(X, names)
    print("search", search.best_params_, round(search.best_score_, 3))
    best = pickle.loads(pickle.dumps(search.best_estimator_))
    print("pickled", best.predict(X[::10]), best[-1].support_.shape, best[-1].n_support_)

    fitted = SVC(kernel="linear", tol=1e-6).fit(X, y)
    copy = clone(fitted)
    print("clone", copy, hasattr(copy, "support_"))
    print("linear", fitted.coef_, fitted.intercept_, fitted.fit_status_, fitted.shape_fit_)
    print("votes", SVC(decision_function_shape="ovo", tol=1e-6).fit(X, y).decision_function(X[:2]))

    two, label = load_breast_cancer(return_X_y=True)
    two = StandardScaler().fit_transform(two)
    calibrated = CalibratedClassifierCV(SVC(tol=1e-6), ensemble=False).fit(two, label)
    print("calibrated", calibrated.predict_proba(two[::100]))
    print("nu", NuSVC(nu=0.2, tol=1e-6).fit(two, label).score(two, label))
    print("outliers", OneClassSVM(nu=0.1, tol=1e-6).fit(two[::2]).predict(two[1::20]))
    print("held out", np.mean(cross_val_predict(SVC(), two, label) == label))
    print("rest", OneVsRestClassifier(SVC()).fit(X, y).score(X, y))
    print("bag", BaggingClassifier(SVC(), 3, random_state=0).fit(X, y).predict(X[::10]))
    print("vote", VotingClassifier([("a", SVC()), ("b", NuSVC(nu=0.2))]).fit(X, y).predict(X[::10]))
    print(
        "eliminated", RFE(SVC(kernel="linear", tol=1e-6), n_features_to_select=2).fit(X, y).support_
    )
    print("matter", permutation_importance(SVC().fit(X, y), X, y, random_state=0).importances_mean)

    texts = ["a soft margin", "a hard margin", "the kernel trick", "a kernel row"] * 5
    words = make_pipeline(TfidfVectorizer(), SVC(kernel="linear", tol=1e-6))
    words.fit(texts, [0, 0, 1, 1] * 5)
    print("words", words.predict(["margin", "kernel"]), type(words[-1].coef_).__name__)
    print(words[-1].coef_.toarray())

    K = X @ X.T
    print("precomputed", cross_val_score(SVC(kernel="precomputed"), K, y, cv=3))
    print("callable", SVC(kernel=lambda A, B: A @ B.T, tol=1e-6).fit(X, y).predict(X[::10]))

    numbers, target = load_diabetes(return_X_y=True)
    regressor = make_pipeline(StandardScaler(), SVR(C=100.0, kernel="linear", tol=1e-6))
    print("regression", cross_val_score(regressor, numbers, target, cv=3))
    scaled = TransformedTargetRegressor(NuSVR(tol=1e-6), transformer=StandardScaler())
    print("targets", scaled.fit(numbers, target).predict(numbers[::60]))

    sklearn.set_config(enable_metadata_routing=True)
    weighted = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scores = cross_validate(weighted, X, y, cv=3, params={"sample_weight": 1.0 + y})
    print("routed", scores["test_score"])
    sklearn.set_config(transform_output="pandas")
    print("frame", make_pipeline(StandardScaler(), SVC()).fit(X, y).score(X, y))
    print("weights", SVC(class_weight="balanced").fit(X[20:], y[20:]).class_weight_)


if __name__ == "__main__":
    main()
