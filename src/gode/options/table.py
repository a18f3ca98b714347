"""The options of a discovery in one table, from which every place that shows or takes them is written.

These are the signature and help of `gode.discover`, `gode.fit` and `gode.ODERegressor`, the flags of the
commands, the page of the studio, and the call and the command that repeat a result.

To add an option, write one entry in the class where it belongs: `FromFiles` of `gode.options.files` (which
column of a file it is), `Measurements` (what is known of data and constants) or `Searching` (how to search).
It has a type, a `default` and `help`; with a `flag` it is on the command line, with a `place` on the page,
with a `check` a wrong value is refused. Then use it. A value that the search needs is a field of the same
name in `gode.search.settings.Choices`, one that belongs to the data a field of that name in
`gode.data.Dataset`: the record keeps both, and the repeated call and command find them there by that name.
What is read from a file is a field of `gode.tables.dataset.DataOptions`.

Nothing heavy is imported here, as the help of the command line is written from it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from gode.choices import EffortName, Preset
from gode.options.checks import (
    AUTO,
    DELAYS,
    bounds_of,
    bounds_text,
    checked_delay,
    checked_hidden,
    checked_noise,
    checked_order,
    checked_preset,
    checked_seconds,
    checked_seed,
    checked_share,
    checked_words,
    fixed_values,
    formulas_of,
    frame_text,
    guessed_values,
    hidden_of,
    hidden_text,
    individual_of,
    individual_text,
    order_of,
    units_of,
    values_text,
    without_numpy,
)
from gode.options.entry import Group, Input, Option, Place, Takes

if TYPE_CHECKING:
    from gode.arrays import Force, Signals

Texts = str | Sequence[str] | Mapping[str, str]
Bounds = Mapping[str, tuple[float | None, float | None]]
Individual = bool | str | Sequence[str]  # all constants or none, "auto", or the names of some


class Measurements(TypedDict, total=False):
    """What is known of measurements and constants, whether the law is sought or given."""

    names: Annotated[
        "Sequence[str] | None",
        Option(help="of the states in an array; by default those of a DataFrame, or of given equations."),
    ]
    force: Annotated[
        "Force | None",
        Option(
            help="the known input F as samples at `t`, a formula in t, or a callable; several by their names."
        ),
    ]
    initial: Annotated[
        "Signals | None",
        Option(
            help="known initial values, [u(t0)] or [u(t0), u'(t0)], of several states in turn or by name.",
            of_each_record=True,
            flag="--initial",
            takes=Takes.TEXTS,
            metavar="VALUES",
            said="Known initial values, as 1 or 1,0; once for all runs or once for each.",
            place=Place(
                Group.DATA,
                "Known initial values",
                "u(t0), or u(t0),u'(t0) for order 2; once for all runs, or a line for each.",
                Input.LINES,
            ),
        ),
    ]
    doses: Annotated[
        "object",
        Option(
            help="what was added to states, and when: rows (state, time, amount), with a duration behind for "
            "an infusion, or a table of them; of several runs a list of these, or the same for all. A "
            "reading at the time of a dose was taken before it.",
        ),
    ]
    below: Annotated[
        "float | Signals | None",
        Option(
            help="of readings of which only a limit is known, such as <0.05: one number, below which all "
            "readings at or under it are known to lie, or several by their names; or an array of the same "
            "form as u with the limit of each such reading, itself missing or at or under it, and NaN "
            "elsewhere. They enter fits by their probability.",
        ),
    ]
    above: Annotated[
        "float | Signals | None",
        Option(help="as `below`, of readings such as >200, which lie above what is given."),
    ]
    observe: Annotated[
        "Mapping[str, str] | None",
        Option(
            help="formulas of what was measured, where it is no state itself, by the names of the columns, "
            'such as {"signal": "s*(a + b) + offset"}: of states, derivatives, inputs, t and constants.',
            flag="--observe",
            takes=Takes.TEXTS,
            metavar="FORMULA",
            said='What a column measures, such as "signal = s*(a + b) + offset"; may be repeated.',
            read=formulas_of,
            text=values_text,
        ),
    ]
    hold: Annotated[
        "bool | None",
        Option(
            help="whether each sample of the force lasts until the next, as the output of a controller does; "
            "a callable is then read at `t`. None leaves it to the data.",
            of_each_record=True,
            flag="--hold/--no-hold",
            takes=Takes.NOTHING,
            said="Whether each sample of F is held until the next; by default the data decide.",
        ),
    ]
    interpolation: Annotated[
        "str",
        Option(
            help="hold, linear or cubic, of which hold=True and hold=False are the first and the last.",
            default="auto",
            of_each_record=True,
            flag="--interpolation",
            takes=Takes.WORD,
            words=("auto", "hold", "linear", "cubic"),
            usual="auto",
            said="Interpolation between samples of F.",
            place=Place(
                Group.DATA,
                "Between samples of an input",
                input=Input.CHOICE,
                choices=(
                    ("auto", "as the data suggest"),
                    ("hold", "held until the next"),
                    ("linear", "straight lines"),
                    ("cubic", "smooth curve"),
                ),
            ),
        ),
    ]
    noise: Annotated[
        "str",
        Option(
            help="the noise: constant, proportional to the value, combined of both, or log for one that is "
            "constant in the logarithm; auto leaves it to the data.",
            default="auto",
            check=checked_noise,
            of_each_record=True,
            flag="--noise",
            takes=Takes.WORD,
            words=("auto", "constant", "proportional", "combined", "log"),
            usual="auto",
            said="Noise of the readings: the same for all, in proportion to them, both, or in the logarithm.",
        ),
    ]
    keep_outliers: Annotated[
        "bool",
        Option(
            help="whether single readings that lie far from all others are fitted, too; by default they are "
            "left out and told.",
            default=False,
            check=bool,
            of_each_record=True,
            flag="--keep-outliers",
            takes=Takes.NOTHING,
            usual=False,
            said="Fit single readings that lie far from all others, too; by default they are left out and "
            "told.",
            place=Place(
                Group.DATA,
                "Readings far from all others",
                input=Input.FLAG,
                choices=(("", "left out, and told"), ("keep", "fitted, too")),
            ),
        ),
    ]
    units: Annotated[
        "Mapping[str, str] | None",
        Option(
            help='of time, states and inputs, such as {"t": "h", "u": "m"}. Constants are told with theirs, '
            "and laws that add metres to seconds are not looked at.",
            flag="--units",
            takes=Takes.TEXTS,
            metavar="t=h",
            said="Of time, a state or an input; may be repeated.",
            read=units_of,
            text=values_text,
            place=Place(
                Group.DATA,
                "Units",
                "One a line: t = h. Laws that would add metres to seconds are left out.",
                Input.LINES,
            ),
        ),
    ]
    individual: Annotated[
        "Individual",
        Option(
            help='True if each of several runs has constants of its own, "auto" to let the criterion decide '
            "constant by constant, or names of constants of the frame. The law is the same for all.",
            default=False,
            flag="--individual",
            metavar="all|auto|NAME,...",
            said="Constants that each run has for itself: all, those that need it, or some by name.",
            read=individual_of,
            text=individual_text,
            place=Place(
                Group.DATA,
                "Constants that each run has for itself",
                "all, auto for those that need it, or names such as K; empty if runs are alike.",
                choices=(("all", "all constants"), ("auto", "those that need it")),
            ),
        ),
    ]
    fixed: Annotated[
        "Mapping[str, float] | None",
        Option(
            help="values of constants in the frame or the equation that are known.",
            flag="--fix",
            takes=Takes.TEXTS,
            metavar="K=500",
            said="The value of a named constant; may be repeated.",
            read=fixed_values,
            text=values_text,
            place=Place(Group.FRAME, "Constants whose values are known", "One a line: K = 500", Input.LINES),
        ),
    ]
    bounds: Annotated[
        "Bounds | None",
        Option(
            help="the least and the largest value of such constants, None for no bound.",
            flag="--bounds",
            takes=Takes.TEXTS,
            metavar="r=0:1",
            said="Its least and largest value, either may be missing.",
            read=bounds_of,
            text=bounds_text,
            place=Place(
                Group.FRAME,
                "Bounds and signs of constants",
                "One a line, least and largest with a colon, either may be missing: r = 0:",
                Input.LINES,
            ),
        ),
    ]


class Starting(TypedDict, total=False):
    """From where the constants of a given law are fitted."""

    guess: Annotated[
        "Mapping[str, float] | None",
        Option(
            help="values of named constants from which the first fit starts, where the usual starts end in a "
            "wrong minimum.",
            flag="--guess",
            takes=Takes.TEXTS,
            metavar="ka=1",
            said="From where a named constant is fitted first; may be repeated.",
            read=guessed_values,
            text=values_text,
        ),
    ]


class Readings(TypedDict, total=False):
    """What was measured besides u, where these are arguments of their own."""

    velocity: Annotated["Signals | None", Option()]
    acceleration: Annotated[
        "Signals | None",
        Option(
            help="u' and u'' where they were measured, of the same form as u; NaN where they were not.",
        ),
    ]
    sd: Annotated[
        "float | Signals | None",
        Option(
            help="standard errors of the readings, of the same form as u, or of the derivative where only "
            "that was measured; one number holds for all of them. Their ratios are the weights of the fit, "
            "of smoothing and of the criterion; one common factor is estimated, and told where it is far "
            "from 1."
        ),
    ]


class Searching(TypedDict, total=False):
    """How a law is sought."""

    order: Annotated[
        "int | Literal['auto']",
        Option(
            help="1, 2, or auto to try both, each with half of the effort; the criterion decides.",
            default=1,
            check=checked_order,
            flag="--order",
            takes=Takes.WORD,
            words=("1", "2", AUTO),
            of_each_record=True,
            said="Of the equation; auto tries both. By default 2 with accelerations, else 1.",
            read=order_of,
            place=Place(
                Group.LAW,
                "Order of the equation",
                "2 means that it rules the acceleration, as in mechanics.",
                Input.CHOICE,
                (("", "1; 2 for accelerations"), ("1", "1"), ("2", "2"), (AUTO, "try both")),
            ),
        ),
    ]
    grammar: Annotated[
        "str | None",
        Option(
            help="a model that comes with gode, the path of one made by `gode train`, or a grammar file of "
            "few equations, which are all tried.",
            flag="--grammar",
            takes=Takes.FILE,
            metavar="NAME",
            of_each_record=True,
            said="A model that comes with gode or was made by gode train, or a grammar file of few "
            "equations.",
        ),
    ]
    without: Annotated[
        "Sequence[str]",
        Option(
            help="symbols that the equation may not have, such as log or t.",
            default=(),
            check=checked_words,
            flag="--without",
            takes=Takes.TEXTS,
            metavar="SYMBOL",
            of_each_record=True,
            said="Leave out log, t, ...; may be repeated.",
            place=Place(Group.LAW, "Functions that cannot occur", "Such as log exp sin t.", Input.WORDS),
        ),
    ]
    frame: Annotated[
        "Texts | None",
        Option(
            help="what is known of the equation, such as ``u'' = -9.81*sin(u) - f(u')``; of several states, "
            "one each, in a list or separated by semicolons. A name with arguments is an unknown function of "
            "these, the same wherever it stands, ? one of everything; any other name is a constant to fit. "
            "The order is that of the frame.",
            flag="--frame",
            metavar="EQUATION",
            said="What is known, with unknown functions: \"u'' = -9.81*sin(u) - f(u')\"; ? for anything.",
            text=frame_text,
            place=Place(
                Group.FRAME,
                "The equation as far as it is known",
                "Letters are constants to fit, f(...) is an unknown function, ? anything: "
                "u'' = -9.81*sin(u) - f(u'). Several states have an equation each, with semicolons between.",
            ),
        ),
    ]
    assume: Annotated[
        "str | Sequence[str]",
        Option(
            help="what the law keeps: odd (u -> -u), energy (second order), autonomous (no explicit time), "
            "rest-at-zero, rest-at=2.5 or rest-at=x:1,y:2 (a known equilibrium), nonnegative, no-spontaneous "
            "(a state that is zero stays zero); the remarks tell what each costs in the criterion. Of "
            "several states that are never negative, laws that are no-spontaneous are preferred, which is "
            "told.",
            default=(),
            flag="--assume",
            takes=Takes.TEXTS,
            metavar="NAME",
            said="What the law keeps: odd, energy, autonomous, rest-at-zero, rest-at=2.5, nonnegative, "
            "no-spontaneous (what is zero stays zero); repeatable.",
            place=Place(Group.LAW, "The law keeps", input=Input.CHECKS),  # the engine's table of assumptions
        ),
    ]
    hidden: Annotated[
        "int | Literal['auto'] | Sequence[str]",
        Option(
            help="how many states act that were not measured, 0, 1 or 2, or their names; auto compares all "
            "three by the criterion, also with laws of second order. A hidden state is scaled so that it "
            "enters the equation of a measured one with the factor one.",
            default=0,
            check=checked_hidden,
            flag="--hidden",
            metavar="N|auto|NAME,...",
            said="States that no column measures: their number, their names, or auto to compare 0, 1 and 2.",
            read=hidden_of,
            text=hidden_text,
            place=Place(
                Group.LAW,
                "Quantities that act but were not measured",
                "Their number, names such as w, or auto to compare none, one and two; empty for none.",
                choices=(("1", "one"), ("2", "two"), (AUTO, "compare none, one and two")),
            ),
        ),
    ]
    delay: Annotated[
        "str | None",
        Option(
            help="input if the known input acts later than it was recorded, state if the state acts some "
            "time later on itself, by a time that is found and fitted with its error; auto tries what the "
            "residuals suggest, and the criterion decides.",
            check=checked_delay,
            flag="--delay",
            takes=Takes.WORD,
            words=DELAYS,
            of_each_record=True,
            said="input or state: it acts late, by a time that is fitted; auto tries what the residuals "
            "suggest.",
            place=Place(
                Group.LAW,
                "Dead time",
                "The input, or the state itself, acts some time later, by a time that is fitted.",
                Input.CHOICE,
                (
                    ("", "none"),
                    ("input", "the input acts late"),
                    ("state", "the state acts late"),
                    (AUTO, "try what the residuals suggest"),
                ),
            ),
        ),
    ]
    start: Annotated[
        "str | None",
        Option(
            help="a guess, such as ``u'' = C*u`` or ``C*u'' + C*u = 0``.",
            flag="--start",
            metavar="EQUATION",
            said="A guess, such as \"u'' = C*u\".",
            place=Place(Group.LAW, "A guess of the equation", "Such as u'' = C*u + C*u'."),
        ),
    ]
    effort: Annotated[
        "str",
        Option(
            help="quick, normal or thorough.",
            default=EffortName.NORMAL.value,
            flag="--effort",
            takes=Takes.WORD,
            words=tuple(map(str, EffortName)),
            usual=EffortName.NORMAL.value,
            shows_default=True,
            of_each_record=True,
            said="How many equations are tried.",
            place=Place(
                Group.SEARCH,
                "Effort",
                input=Input.CHOICE,
                choices=(
                    ("normal", "normal: minutes"),
                    ("quick", "quick: half a minute"),
                    ("thorough", "thorough: long"),
                ),
            ),
        ),
    ]
    preset: Annotated[
        "str",
        Option(
            help="default, or paper for the method of the paper as it was published.",
            default=Preset.DEFAULT.value,
            check=checked_preset,
            flag="--preset",
            takes=Takes.WORD,
            words=tuple(map(str, Preset)),
            usual=Preset.DEFAULT.value,
            shows_default=True,
            said="paper: the method as published.",
        ),
    ]
    max_seconds: Annotated[
        "float | None",
        Option(
            help="end with the best equation so far after this time. What was found then depends on the "
            "speed of the machine.",
            check=checked_seconds,
            flag="--max-seconds",
            takes=Takes.NUMBER,
            least=0,
            metavar="S",
            of_each_record=True,
            said="End with the best so far after this time; of many records, for each.",
            place=Place(
                Group.SEARCH,
                "End after this many seconds",
                "With the best so far; empty for no limit.",
            ),
        ),
    ]
    hold_out: Annotated[
        "float | None",
        Option(
            help="the share of each record, at its end, that is held back from the fits, as 0.2: laws are "
            "ranked by how well they foretell it, and the verdict tells how well that is.",
            check=checked_share,
            flag="--hold-out",
            takes=Takes.NUMBER,
            least=0,
            metavar="SHARE",
            of_each_record=True,
            said="Hold back the end of each record, as 0.2 of it, and rank laws by how they foretell it.",
            place=Place(
                Group.SEARCH,
                "Rank by the end of each record",
                "The share of its time that is held back from the fits, as 0.2; empty for none.",
            ),
        ),
    ]
    n_jobs: Annotated[
        "int",
        Option(
            help="processes to fit trajectories with, at most one for each core; the answer does not depend "
            "on it.",
            default=1,
            check=without_numpy,
            flag="--jobs",
            takes=Takes.WHOLE,
            least=1,
            usual=1,
            shows_default=True,
            said="Processes, at most one for each core; the answer does not depend on it.",
        ),
    ]


class Seed(TypedDict, total=False):
    """The seed, which scikit-learn calls otherwise."""

    seed: Annotated[
        "int",
        Option(
            help="of random numbers: the same seed gives the same answer.",
            default=0,
            check=checked_seed,
            flag="--seed",
            takes=Takes.WHOLE,
            least=0,
            usual=0,
            shows_default=True,
            of_each_record=True,
            said="Same seed, same answer.",
            place=Place(Group.SEARCH, "Seed", "Same seed, same answer."),
        ),
    ]


class OfRegressor(TypedDict, total=False):
    """What only the estimator has, as scikit-learn passes data in its own way."""

    equation: Annotated[
        "str | Sequence[str] | None",
        Option(
            help="an equation whose constants C are fitted, or a list of them, one for each state; None to "
            "discover."
        ),
    ]
    signal: Annotated["str", Option(help="the meaning of y: u, velocity or acceleration.", default="u")]
    runs: Annotated[
        "str | None",
        Option(help="the column of X, a DataFrame, that names the run of each row, if there are several."),
    ]
    sd: Annotated[
        "str | None",
        Option(help="the column of X, a DataFrame, with the standard errors of y, if they are known."),
    ]
    random_state: Annotated[
        "object",
        Option(help="an integer or a generator; None is 0, so that fits are reproducible."),
    ]


class FitOptions(Readings, Measurements, Starting, total=False):
    """The options of `gode.fit`."""


class DiscoverOptions(Readings, Measurements, Searching, Seed, total=False):
    """The options of `gode.discover`."""


class RegressorOptions(OfRegressor, Measurements, Searching, Starting, total=False):
    """The options of `gode.ODERegressor`."""
