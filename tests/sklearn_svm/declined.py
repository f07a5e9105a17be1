"""scikit-learn's tests of `sklearn.svm` that our classes do not pass, each with its reason.

The keys are patterns of "module::test[parameters]" as `fnmatch` reads them, with [[] for a bracket.
"""

FREE_OFFSET = "the offset is free here: no value of intercept_scaling makes it 0"
ONE_STEP = "the step allowed is enough: it converges, so that there is nothing to warn of"
KEPT = "probabilities are not deprecated here"
ONE_ROW = "a class with one row is an error that names the class: no fold can hold the row out"

DECLINED = {
    "test_bounds::test_l1_min_c[[]fit-intercept-*squared_hinge-*": FREE_OFFSET,
    "test_sparse::test_sparse_liblinear_intercept_handling": FREE_OFFSET,
    "test_svm::test_dense_liblinear_intercept_handling": FREE_OFFSET,
    "test_sparse::test_timeout[[]*": ONE_STEP,
    "test_svm::test_libsvm_convergence_warnings*": ONE_STEP,
    "test_svm::test_linear_svm_convergence_warnings*": (
        "the warning does not name LIBLINEAR: it says how far the fit came and what to do"
    ),
    "test_sparse::test_svc[[]*-X_train1-*": ONE_ROW,
    "test_svm::test_probability_raises_futurewarning[[]*": KEPT,
    "test_svm::test_svc_nusvc_probA_probB_deprecated[[]*": KEPT,
    "test_svm::test_svc_ovr_tie_breaking[[]*": "ties are always broken, also by break_ties=False",
    "test_svm::test_svr_errors": "a kernel of the wrong shape is refused by fit, not by predict",
    "test_svm::test_svc_nonfinite_params*": "the error names the row that overflows",
    "test_svm::test_negative_weights_svc_leave_just_one_label[[]*-NuSVC]": (
        "the error is that one class is left, as in SVC, not that nu is infeasible"
    ),
    "test_svm::test_custom_kernel_not_array_input[[]SVC]": (
        "its function is symmetric by construction, and so wrong for two different blocks of rows: "
        "here predict asks for the columns of the support vectors only"
    ),
    "test_svm::test_tweak_params": "sets the private _dual_coef_",
    "test_svm::test_gamma_scale": "reads the private _gamma; kernel_.gamma has the value",
    "test_svm::test_svc_raises_error_internal_representation": "sets the private _n_support",
}

# Tests whose outcome the processor decides by its rounding, or the version of scikit-learn.
UNDECIDED = {
    "test_svm::test_negative_sample_weights_mask_all_samples[[]*-NuSVC]": (
        "before 1.9 it asks that all weights 0 be an infeasible nu; here they are all 0"
    ),
    "test_sparse::test_sparse_oneclasssvm[[]*-sigmoid-X_train0-*": (
        "every decision value is 0 by symmetry"
    ),
    "test_sparse::test_sparse_oneclasssvm[[]*-rbf-X_train3-*": (
        "two equal rows of iris share an α of more than one bound: which of them is at it; what is "
        "determined is tested in machines/test_invariance.py"
    ),
}
