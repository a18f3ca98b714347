"""What the user may choose about a discovery, and what each effort means."""

from dataclasses import dataclass, field, replace

from gode.choices import EffortName, Preset
from gode.data import Interpolation
from gode.data.dataset import chosen_interpolation
from gode.equation import parse_skeleton
from gode.equation.tree import symbols
from gode.errors import ConfigError
from gode.fitting import ConstantsConfig
from gode.fitting.trajectory import ShootConfig
from gode.options.calls import checked
from gode.options.checks import ORDERS, whole_number
from gode.options.entry import options_of
from gode.options.table import DiscoverOptions
from gode.search.assumptions import Known
from gode.selection import SelectionConfig


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How many skeletons go through each stage."""

    library: int  # random sentences fitted first
    sums: int  # of each size, the best of all sums of few terms
    latent: int  # skeletons fitted in the latent search
    climbers: int  # starts of the latent search besides the origin
    vocabulary: int  # terms that moves may add
    per_size: int  # skeletons of each size that go to the trajectory
    rounds: int  # of moves on the trajectory
    per_round: int  # neighbours fitted to the trajectory for each good equation


# The effort `normal` was set on 63 problems of the benchmarks, where more brought nothing (docs/ablation.md);
# the others were set by hand for discoveries of half a minute, and for long ones.
EFFORTS: dict[str, Effort] = {
    EffortName.QUICK: Effort(
        library=300, sums=10, latent=300, climbers=2, vocabulary=30, per_size=5, rounds=3, per_round=8
    ),
    EffortName.NORMAL: Effort(
        library=400, sums=30, latent=500, climbers=4, vocabulary=60, per_size=7, rounds=6, per_round=10
    ),
    EffortName.THOROUGH: Effort(
        library=2000, sums=60, latent=4000, climbers=15, vocabulary=150, per_size=24, rounds=20, per_round=30
    ),
}
# Of a grammar whose skeletons are all tried, and nothing else.
ALL = Effort(library=0, sums=0, latent=0, climbers=0, vocabulary=0, per_size=24, rounds=0, per_round=0)
GRAMMARS = {1: "first-order", 2: "second-order"}
IMPLICIT = "implicit"
SYSTEMS = "systems"  # of one equation of a system
NEEDED = ("+", "-", "(", ")", "C")  # for every equation


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Where the search looks; what it finds is ranked by the criterion alone."""

    max_terms: int = 6  # A neighbour of a good equation has at most so many; each more doubles the sums.
    reserve: int = 4  # Sums of few terms have a vocabulary so many times as large as that of moves.
    implicit: float = 0.25  # The implicit grammar takes this share of the effort; few laws need it.
    lasting: float = 0.5  # Laws in which what is zero stays zero take this share, where they are usual.
    pruned: int = 3  # Where residuals are correlated, all sums of fewer terms are fitted of so many leaders.
    whole: int = 12  # So many equations go from the first part of a long record to all of it.
    completed: int = 6  # So many fits far from the data are completed, which exact data need.
    combinations: int = 12  # So many combinations of the best equations of each state are fitted together.
    grown: int = 3  # Of these, so many that stay far from the data are fitted to ever longer parts.
    exchanged: int = 6  # So many equations of a state are tried in the best laws.
    nearby: float = 40.0  # Within this criterion of the best, sums are fitted and shared constants sought.


@dataclass(frozen=True, kw_only=True)
class LatentConfig:
    """How the latent space is searched."""

    population: int = 24  # A generation has so many points; set by hand.
    sigma: float = 0.35  # The first standard deviation; the paper's 0.5 goes nearly as far as a random point.
    patience: int = 5  # After so many generations without a better score or a new skeleton it starts anew.
    max_generations: int = 40  # One start has at most so many generations; set by hand.


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the user chose of a search, by the names of the table of options; see `gode.options`."""

    preset: str = Preset.DEFAULT.value
    effort: str = EffortName.NORMAL.value
    start: str | None = None
    without: tuple[str, ...] = ()
    seed: int = 0
    hold_out: float | None = None  # the share of each record that is held back, and by which laws are ranked
    delay: str | None = None  # what may act later than it was recorded: the input, the state, or auto
    individual: tuple[str, ...] = ()  # constants that each run has for itself: all, auto, or their names
    known: Known = field(default_factory=Known)

    def __post_init__(self) -> None:
        for name, option in options_of(DiscoverOptions).items():
            if name in vars(self):
                checked(option, vars(self)[name])


@dataclass(frozen=True, kw_only=True)
class Settings(Choices):
    """All choices of one discovery; enough to repeat it."""

    order: int
    grammar: str
    implicit: bool = False  # whether to look for implicit equations too
    interpolation: str = Interpolation.AUTO.value  # of the samples of an input
    share: float = 1.0  # of the effort: less where other orders were tried, too
    listed: int = 0  # skeletons, where all that the grammar writes were tried
    search: SearchConfig = field(default_factory=SearchConfig)
    latent: LatentConfig = field(default_factory=LatentConfig)
    constants: ConstantsConfig = field(default_factory=ConstantsConfig)
    shooting: ShootConfig = field(default_factory=ShootConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)

    def __post_init__(self) -> None:
        if whole_number(self.order) not in ORDERS:
            raise ConfigError(f"order must be 1 or 2, got {self.order!r}")
        super().__post_init__()
        if not isinstance(self.effort, str) or self.effort not in EFFORTS:
            raise ConfigError(f"effort must be one of {', '.join(EFFORTS)}, got {self.effort!r}")
        needed = [word for word in self.without if word in NEEDED and self.preset != Preset.PAPER]
        if needed:
            raise ConfigError(
                f"without cannot leave out {needed[0]}: equations are sums of terms with a factor each; "
                "leave out symbols such as log, t, / or ^"
            )
        chosen_interpolation(None, self.interpolation)

    @property
    def ends_early(self) -> bool:
        """Whether the search ends where it is decided; see gode.search.stopping."""
        return self.effort in (EffortName.QUICK, EffortName.NORMAL) and not self.listed

    @property
    def budget(self) -> Effort:
        """How many skeletons go through each stage."""
        if self.listed:
            return replace(ALL, library=self.listed)
        return EFFORTS[self.effort]


def check_start(settings: Settings, inputs: tuple[str, ...]) -> None:
    """See to it that the guess, if there is one, can be an answer.

    Raises:
        ConfigError: if it has another order, an input that is not given, or a symbol that is left out.
        EquationError: if it is no equation.
    """
    if settings.start is None or settings.start == "":
        return
    guess = parse_skeleton(settings.start)
    if guess.order != settings.order:
        raise ConfigError(
            f"start is of order {guess.order}, but order={settings.order} was asked for; change one of them"
        )
    missing = [name for name in guess.inputs if name not in inputs]
    if missing:
        raise ConfigError(
            f"start has the input {missing[0]}, which is not given; pass force= or leave it out"
        )
    terms = [term.body for term in guess.terms if term.body.value != guess.highest]
    barred = [word for word in settings.without if any(word in symbols(body) for body in terms)]
    if barred:
        raise ConfigError(f"start has {barred[0]}, which without= leaves out; change one of them")
