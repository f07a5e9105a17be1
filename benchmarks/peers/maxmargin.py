"""maxmargin itself."""

from benchmarks.case import Part
from benchmarks.peers.peer import Peer


class Maxmargin(Peer):
    """As a user has it: no cache size, no other setting than its defaults.

    Where all libraries are held to a KKT violation alone, so is ours; `hard` judges the gap too.
    """

    module = distribution = "maxmargin"

    def parameters(self, case, n):
        given = {k: v for k, v in super().parameters(case, n).items() if k != "cache_size"}
        if case.kind != "hard" and case.machine != "LinearSVC":
            given["criterion"] = "kkt"
        if (case.rbf, case.linear) != (1, 0):
            given["kernel"] = kernel(case)
        return given

    def one_versus_rest(self, machine):
        return machine.set_params(multiclass="ovr")

    def parts_of_classes(self, model):
        for name, coef, b in zip(model.classes_, model.dual_coef_, model.intercept_, strict=True):
            used = coef != 0
            yield Part(model.support_[used], coef[used], float(b), (float(name), None))


def kernel(case):
    """The weighted sum that the case names, of the terms whose weight is not 0."""
    from maxmargin.kernels import RBF, Linear

    weights = {RBF(case.gamma): case.rbf, Linear(): case.linear * case.gamma}
    return sum(weight * term if weight != 1 else term for term, weight in weights.items() if weight)
