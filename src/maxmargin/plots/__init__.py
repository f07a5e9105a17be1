"""Pictures of machines, after scikit-learn's Display convention (extra ``plot``).

A display is computed once, by ``from_estimator`` or its like, and drawn as often as wanted, by
``plot``, on any matplotlib axes; what was drawn is kept in attributes that end in ``_``.
"""

from maxmargin.plots.margin import MarginDisplay
from maxmargin.plots.palette import theme

__all__ = ["MarginDisplay", "theme"]
