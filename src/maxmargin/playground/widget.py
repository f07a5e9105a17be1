"""The playground in a notebook: the drawn points and the fitted machine are Python objects.

The page's state is one synchronised value, so that a picture drawn twice shows the same, and a
change on either side arrives on the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import anywidget
import numpy as np
import traitlets

from maxmargin.playground import assets, presets
from maxmargin.playground.machine import Estimator, learns, settings_of, table
from maxmargin.playground.message import Message
from maxmargin.playground.picture import fit
from maxmargin.playground.schema import (
    Points,
    Refused,
    Settings,
    read,
    read_points,
    read_settings,
)
from maxmargin.playground.session import Session, greeting
from maxmargin.resources.arrays import Data, Floats, Labels


class Widget(anywidget.AnyWidget):
    """The playground, in Jupyter, VS Code, Colab or marimo.

    Parameters
    ----------
    X : array of shape (n, 2), default=None
        Points to begin with; two moons by default.
    y : array of shape (n,), default=None
        Their classes, whole numbers from 0 to 7.
    machine : estimator, default=None
        A machine that the page can show, fitted or not; an `SVC` with a Gaussian by default.

    Attributes
    ----------
    X, y : the points as they are drawn now; setting them moves the picture. For a machine that
        learns a curve, X has one column and y are the heights.
    machine : the machine fitted to them; setting it moves the sliders.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> w = Widget()
    >>> w.X.shape, w.machine.score(w.X, w.y) > 0.9
    ((60, 2), True)
    >>> w.machine = SVC(C=100.0, gamma=2.0)
    >>> w.machine.C, w.machine.kernel
    (100.0, RBF(gamma=2.0))
    """

    _esm = assets.bundle("widget.js")
    _css = assets.styles()

    state = traitlets.Dict().tag(sync=True)

    def __init__(
        self, X: Data = None, y: Data = None, machine: Estimator | None = None, **more: Any
    ) -> None:
        super().__init__(**more)
        self._session = Session()
        self._fitted: tuple[Message, Estimator] | None = None
        self._show(presets.points("moons", 60, 0.15, seed=0), Settings())
        if X is not None:
            self._draw(X, np.zeros(len(X)) if y is None else y)
        if machine is not None:
            self.machine = machine
        self.on_msg(self._asked)

    @property
    def X(self) -> Floats:
        """The rows of the drawn points."""
        return table(self._points, self._settings)[0]

    @X.setter
    def X(self, X: Data) -> None:
        old = table(self._points, self._settings)[1]
        self._draw(X, old if len(old) == len(X) else np.zeros(len(X)))

    @property
    def y(self) -> Labels:
        """Their classes, or their heights for a machine that learns a curve."""
        return table(self._points, self._settings)[1]

    @y.setter
    def y(self, y: Data) -> None:
        self._draw(self.X, y)

    @property
    def machine(self) -> Estimator:
        """The machine fitted to the points as they are now."""
        if self._fitted is None or self._fitted[0] is not self.state:
            self._fitted = (self.state, fit(self._points, self._settings)[0])
        return self._fitted[1]

    @machine.setter
    def machine(self, machine: Estimator) -> None:
        self._show(self._points, settings_of(machine, self._points.xy))

    @property
    def _points(self) -> Points:
        return read_points("points", self.state["points"])

    @property
    def _settings(self) -> Settings:
        return read_settings("settings", self.state["settings"])

    def _draw(self, X: Data, y: Data) -> None:
        """Put these rows on the page, at the places that the machine reads them from."""
        rows, targets = np.asarray(X, float), np.asarray(y, float)
        if learns(self._settings) == "curve":
            xy, classes = np.column_stack([rows.ravel(), targets]), np.zeros(len(targets))
        else:
            if rows.ndim != 2 or rows.shape[1] != 2:
                raise ValueError(f"X must have two columns to be drawn, got shape {rows.shape}")
            xy, classes = rows, targets
        if len(xy) != len(classes):
            raise ValueError(f"X has {len(xy)} rows but y has {len(classes)}")
        self._show(read_points("points", np.column_stack([xy, classes]).tolist()), self._settings)

    def _show(self, points: Points, settings: Settings) -> None:
        self.state = {"points": points.as_json(), "settings": asdict(settings)}

    @traitlets.validate("state")
    def _checked(self, proposal: Mapping[str, object]) -> Message:
        """What arrives from a page is checked like any other message."""
        value = proposal["value"]
        if value == {}:
            return {}
        if not (isinstance(value, Mapping) and set(value) == {"points", "settings"}):
            raise traitlets.TraitError("the state of the playground is its points and settings")
        try:
            read_points("points", value["points"])
            read_settings("settings", value["settings"])
        except Refused as refusal:
            raise traitlets.TraitError(str(refusal)) from refusal
        return dict(value)

    def _asked(self, _: object, message: object, __: object) -> None:
        """Answer the page, as the server would."""
        if isinstance(message, Mapping) and message.get("type") == "hello":
            self.send(greeting())
            return
        try:
            self.send(self._session.answer(read(message)))
        except Refused as refusal:
            self.send({"type": "refused", "id": None, "of": None, "why": str(refusal)})
