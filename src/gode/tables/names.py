"""What the name of a column says about it: time, signal, input, run, or none of them."""

import re
from collections.abc import Collection, Sequence

from gode.tables.heading import is_time_word, words_of
from gode.tables.layout import time_unit
from gode.tables.table import Table

GUESSES = {  # column names in lower case; of several that fit, the first
    "time": "time times zeit temps tiempo tempo timestamp datetime date&time datum date uhrzeit t elapsed "
    "seconds sec millis micros hours hour hrs hr minutes minute min year years day days tag jour week weeks "
    "month months",
    "u": "u x y q z position displacement angle theta phi height value signal output concentration "
    "population temperature voltage",
    "velocity": "velocity du u' du/dt dudt udot speed x' dx/dt dxdt v",
    "acceleration": "acceleration acc accel d2u u'' ddu d2u/dt2 d2udt2 uddot x'' a",
    "force": "force forcing excitation input f",
    "run": "run runs trial experiment series",
}
SHORT = {"v", "a", "f"}  # ambiguous, unless there is also a column u or x
SLOPES = {  # of a state, in lower case, by the primes behind its name
    "'": ("{}'", "d{}/dt", "d{}dt", "{}dot"),
    "''": ("{}''", "d2{}/dt2", "d2{}dt2", "{}ddot"),
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# words for what is set, or comes from outside, and acts on the system
INPUTS = _words(
    "heater heating heizung heizleistung heizer chauffage chauffe valve ventil vanne pump pumpe pompe "
    "voltage spannung tension command cmd stellgröße stellgroesse stellwert commande duty pwm setpoint "
    "sollwert consigne reference opening öffnung ouverture torque drehmoment couple rain rainfall regen "
    "niederschlag pluie precipitation precip prcp dose dosis dosage infusion injection force forcing "
    "kraft load excitation anregung stimulus input eingang entrée entree throttle inflow zufluss zulauf "
    "feed actuator aktor fan lüfter irrigation bewässerung switch relay relais schalter"
)
INPUT_ENDS = ("kraft", "spannung", "ventil", "leistung", "pumpe", "dosis", "vorgabe", "anregung")
MEASURED = _words("temperature temp temperatur température pressure druck pression current strom courant")
RUNS = _words(
    "run runs trial experiment series id subject patient animal person individual participant proband "
    "batch charge specimen probe replicate rep plot mouse rat tube vessel reactor site station country "
    "region sensor device group"
)
COUNTERS = _words(
    "nr no number nummer num index idx row record rec recnum scan id sample point n count zeile messung "
    "lfd obs observation rownames line cycle zyklus"
)
# words about the instrument, or about another reading
ASIDE = _words(
    "alarm status flag flags error err sd std stdev stddev sem se sigma uncertainty quality battery "
    "batt battv serial evid mdv cmt blq ci checksum crc rssi"
)
WELL = re.compile(r"[A-P]\d{1,2}|(?:well|sample|replicate|rep|tube)[ _-]?\w{1,4}", re.IGNORECASE)
NUMBERED = re.compile(r"(?P<stem>[^\d]*)\d+")
DEGREES = {"°c", "c", "degc", "k", "°f", "f", "degf", "deg c", "deg f", "celsius", "kelvin"}


def plain(name: str) -> str:
    """Return the name in the form of GUESSES: lower case, u(t) as u, time_h as time."""
    return time_unit(name)[0].lower().replace(" ", "").removesuffix("(t)")


def is_known(name: str, role: str) -> bool:
    """Tell whether a name is one of those that always mean a role."""
    return plain(name) in GUESSES[role].split()


def slope_names(names: Collection[str]) -> set[str]:
    """Return how the slopes of some columns may be called, in lower case."""
    return {form.format(name.lower()) for name in names for forms in SLOPES.values() for form in forms}


def named(table: Table, words: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """Return the column that is called as the first of some words for which there is one."""
    names = {plain(name): name for name in reversed(table.names) if name not in taken}
    return next((names[word] for word in words if word in names), None)


def is_temperature(table: Table, name: str) -> bool:
    """Tell whether a column that is called T is one of temperatures, by its unit."""
    return table.units[table.names.index(name)].strip().lower() in DEGREES


def is_of_time(name: str) -> bool:
    """Tell whether a longer name speaks of time, such as `Prüfzeit`; a T among other words does not."""
    return is_time_word(" ".join(word for word in words_of(name) if word != "t"))


def is_input(name: str) -> bool:
    """Tell whether a name is that of an input, such as `valve_opening` or `Heater [%]`."""
    words = {*words_of(name)}
    if words & MEASURED:
        return False
    return plain(name) in GUESSES["force"].split()[:-1] or bool(words & INPUTS) or any(
        word.endswith(INPUT_ENDS) for word in words
    )  # fmt: skip


def is_well(name: str) -> bool:
    """Tell whether a name is that of a well, a sample or a replicate."""
    return bool(WELL.fullmatch(name))


def is_aside(name: str) -> bool:
    """Tell whether a name is that of an alarm, an error bar or a battery."""
    return bool({*words_of(name)} & ASIDE)


def is_counter(name: str) -> bool:
    """Tell whether a name is that of a number of rows, or no name at all."""
    words = words_of(name)
    return name in ("#", "") or name.startswith("column ") or bool(words and {*words} <= COUNTERS)


def tells_runs(name: str) -> bool:
    """Tell whether a name is that of subjects, batches or places."""
    return bool({*words_of(name)} & RUNS)


def stems(names: Sequence[str]) -> set[str]:
    """Return what numbered names share, such as s of s1 and s2; one entry if all are numbered alike."""
    return {found["stem"] if (found := NUMBERED.fullmatch(name)) else name for name in names}
