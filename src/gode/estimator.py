"""ODERegressor: discover() and fit() with the interface of scikit-learn, which need not be installed."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Self, Unpack, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from gode.arrays import Float, Series
from gode.data.columns import INPUT
from gode.data.states import TAKEN, as_numbers
from gode.discovery import Discovery, Finding, discover, fit
from gode.discovery.quality import Quality
from gode.discovery.simulate import Start
from gode.errors import ConfigError, DataError, NotFittedError
from gode.identifiers import identifiers
from gode.options.calls import check_names, takes_options, tells_options
from gode.options.entry import options_of
from gode.options.table import DiscoverOptions, FitOptions, RegressorOptions
from gode.tables.rows import Rows, by_run, errors_of, explained, rows_of, target_names, target_of

OPTIONS = options_of(RegressorOptions)
WEIGHT = "sample_weight"
SIGNALS = {"u": 0, "velocity": 1, "acceleration": 2}  # argument of discover -> its channel of a state


@tells_options(RegressorOptions)
class ODERegressor:
    """A regressor that finds the equation of a signal and predicts by solving it.

    X holds the times, (n,) or (n, 1), and in a second column the samples of a known input if there is one; or
    it is a DataFrame with a column t or time, and optionally force. y is the signal (n,), or the states of a
    system (n, d), also as a DataFrame, NaN where it was not observed; predictions have its shape. Rows may
    come in any order. Dates become seconds since the first one given to `fit`.

    Args:
        **options: see `gode.options`.

    A solution goes forwards from the data of `fit`: split records for validation by time, as TimeSeriesSplit
    of scikit-learn does, not at random.

    After `fit`, `equation_` is the equation with its error bars, `discovery_` all that `gode.discover`
    returns, `n_features_in_` the number of columns of X.

    Example:
        >>> model = ODERegressor(order=1, effort="quick").fit(t, u)  # doctest: +SKIP
        >>> model.predict(later)  # doctest: +SKIP
    """

    _estimator_type = "regressor"

    @takes_options(RegressorOptions)
    def __init__(self, **options: Unpack[RegressorOptions]) -> None:
        check_names("ODERegressor", OPTIONS, options)
        for name, option in OPTIONS.items():  # kept as they are given: scikit-learn expects no check here
            setattr(self, name, options.get(name, option.default))

    def fit(self, X: "ArrayLike | pd.DataFrame", y: "ArrayLike | pd.DataFrame") -> Self:
        """Find the equation, or fit the constants of the given one; return the estimator.

        Raises:
            DataError, ConfigError: with a sentence that says what to do.
        """
        chosen = self._chosen()
        if chosen["signal"] not in SIGNALS:
            raise ConfigError(f"signal must be one of {', '.join(SIGNALS)}, got {chosen['signal']!r}")
        X, groups = by_run(X, chosen["runs"])
        X, errors = errors_of(X, chosen["sd"])
        rows, values = rows_of(X), target_of(y)
        if len(values) != len(rows.t):
            raise DataError(f"y has {len(values)} values, but X has {len(rows.t)} rows; give one per row")
        if rows.force is not None and chosen["force"] is not None:
            raise ConfigError("the input is given twice: force= and the second column of X; drop one of them")
        parts = [own for _, own in rows.parts(groups)]
        force: Any = chosen["force"] if rows.force is None else [rows.force[own] for own in parts]
        t, signals = [rows.t[own] for own in parts], [values[own] for own in parts]
        force = force[0] if rows.force is not None and not groups else force
        times, seen = (t, signals) if groups else (t[0], signals[0])
        sd: Any = None
        if errors is not None:
            of_runs = [np.broadcast_to(errors[own], values[own].T.shape).T for own in parts]
            sd = of_runs if groups else of_runs[0]
        given = {"force": force, "names": self._names(y, values), "sd": sd}
        self.discovery_ = self._found(times, seen, given)
        self.runs_ = [name for name, _ in groups]
        self.equation_: Finding = self.discovery_.equation
        self.quality_: Quality = self.discovery_.quality
        self.n_features_in_ = rows.n_features
        self.time_origin_ = rows.origin
        if rows.names is not None:
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        return self

    def predict(self, X: "ArrayLike | pd.DataFrame", initial: Start | None = None) -> Float:
        """Return the signal (n,), or the states (n, d), at the times of X; NaN where there is no solution.

        The times may lie outside the data. The solution starts with the data of `fit`, or at the first time
        of X if `initial` is given. Samples of the input in X replace those of `fit` in the span of X.

        Raises:
            DataError: if X does not have the columns that `fit` was given.
            NotFittedError: before `fit`.
        """
        found = self._fitted()
        X, groups = by_run(X, self._chosen()["runs"])
        X, _ = errors_of(X, self._chosen()["sd"], needed=False)
        rows = rows_of(X, self.time_origin_)
        if rows.n_features != self.n_features_in_:
            raise DataError(
                f"X has {rows.n_features} columns, but fit was given {self.n_features_in_}; "
                "pass the times, and the input if there was one"
            )
        if rows.origin is not None and self.time_origin_ is None:
            raise DataError("X holds dates, but fit was given numbers; pass the same to both")
        out = np.full((len(found.equation.states), len(rows.t)), np.nan)
        signal = SIGNALS[self._chosen()["signal"]]
        for name, own in rows.parts(groups):
            run, part = self._run(name), rows.at(own)
            t, place = np.unique(part.t, return_inverse=True)
            solved = found.simulate(t, initial, self._force(part, initial is None, run), run=run)
            out[:, own] = solved.values[signal::3, place]
        return np.asarray(out.T if len(out) > 1 else out[0])

    def score(
        self,
        X: "ArrayLike | pd.DataFrame",
        y: "ArrayLike | pd.DataFrame",
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return R² of the prediction over the observed values; -inf if the solution fails.

        Of several states it is the mean.
        """
        true, guess = target_of(y), self.predict(X)
        weight = np.ones(len(true)) if sample_weight is None else np.ravel(as_numbers(sample_weight, WEIGHT))
        if not len(true) == len(guess) == len(weight):
            raise DataError(f"y has {len(true)} values, but X has {len(guess)} rows; give one per row")
        if true.shape != guess.shape:
            raise DataError(f"y must have the shape {guess.shape} as in fit, got {true.shape}")
        pairs = zip(true.reshape(len(true), -1).T, guess.reshape(len(true), -1).T, strict=True)
        return float(np.mean([explained(one, other, weight) for one, other in pairs]))

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the arguments of the constructor; `deep` is required by scikit-learn."""
        return {name: getattr(self, name) for name in OPTIONS}

    def set_params(self, **params: object) -> Self:
        """Change arguments of the constructor; return the estimator.

        Raises:
            ConfigError: if there is no such argument.
        """
        for name, value in params.items():
            if name not in OPTIONS:
                raise ConfigError(f"ODERegressor has no parameter {name!r}; it has {', '.join(OPTIONS)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = {name: option.default for name, option in OPTIONS.items()}
        told = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not usual[k] and v != usual[k]]
        return f"ODERegressor({', '.join(told)})"

    def __sklearn_is_fitted__(self) -> bool:
        return "discovery_" in vars(self)

    def __sklearn_tags__(self) -> object:
        """Return the tags of the estimator for scikit-learn."""
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, multi_output=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(one_d_array=True),
        )

    def _names(self, y: object, values: Float) -> Sequence[str] | None:
        """Return the names of the states; None for one signal, or where the equations give them."""
        given = self._chosen()["names"]
        if values.ndim == 1 or given is not None:
            return given
        columns = target_names(y)
        return None if columns is None else identifiers(columns, TAKEN)

    def _chosen(self) -> RegressorOptions:
        """Return the arguments of the constructor by their names."""
        return cast(RegressorOptions, self.get_params())

    def _found(self, t: Series, y: object, data: Mapping[str, object]) -> Discovery:
        """Pass what was given on to `discover`, or to `fit` where the equation is known.

        Args:
            data: options whose values are not those of the constructor.
        """
        chosen = self._chosen()
        given: dict[str, Any] = {
            **chosen,
            **data,
            "seed": _seed(chosen["random_state"]),
        }
        given |= {key: y if key == chosen["signal"] else None for key in SIGNALS}
        if chosen["equation"] is None and chosen["guess"]:
            raise ConfigError("guess= is of a given law; give equation= as well, or leave it out")
        table = DiscoverOptions if chosen["equation"] is None else FitOptions
        options = {name: given[name] for name in options_of(table)}
        if chosen["equation"] is not None:
            return fit(chosen["equation"], t, given["u"], **options)
        return discover(t, given["u"], **options)

    def _fitted(self) -> Discovery:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("this ODERegressor has found no equation yet; call fit(X, y) first")
        return self.discovery_

    def _run(self, name: str) -> int:
        """Return the number of a run that `fit` was given."""
        if self.runs_ and name not in self.runs_:
            new = "for a new individual call discovery_.predict_new"
            raise DataError(f"X holds the run {name!r}, which fit was not given; {new}")
        return self.runs_.index(name) if self.runs_ else 0

    def _force(self, rows: Rows, from_start: bool, number: int) -> tuple[Float, Float] | None:
        """Return the samples of the input: those of X, preceded by those of `fit`."""
        if rows.force is None:
            return None
        t, first = np.unique(rows.t, return_index=True)
        force = rows.force[first]
        run = self.discovery_.prepared.dataset.runs[number]
        if not from_start or not len(t):
            return t, force
        before = run.t < t[0]
        _check_gap(run.t[before], t[0], 3 * float(np.max(np.diff(run.t))))
        known = np.asarray(run.inputs[INPUT], np.float64)
        return np.concatenate([run.t[before], t]), np.concatenate([known[before], force])


def _check_gap(known: Float, first: float, most: float) -> None:
    if len(known) and first - known[-1] > most:
        raise DataError(
            f"the input is unknown between {known[-1]:g} and {first:g}; "
            "pass rows from there on, or initial= with the values at the first of your times"
        )


def _seed(random_state: object) -> int:
    """Return a seed; a generator gives a new one at each call."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ConfigError(f"random_state must be a whole number, a generator or None, got {random_state!r}")
