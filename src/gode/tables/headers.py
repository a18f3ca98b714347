"""Headers of columns: a name, and the unit that stands with it or in it."""

import re

from gode.tables.cells import DEGREES, is_unit

LONE_UNITS = {  # names that are units of time
    **dict.fromkeys(("millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("micros", "microseconds"), "µs"),
    **dict.fromkeys(("seconds", "secs"), "s"),
    **dict.fromkeys(("minutes", "mins"), "min"),
    **dict.fromkeys(("hours", "hrs"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
TIME = re.compile(  # time_h, t_ms, elapsed min: a name of time and its unit
    r"(?P<word>t|times?|zeit|temps|tiempo|tempo|elapsed(?:[ _]time)?|timestamp)[ _.,/-]+(?:in[ _])?"
    r"(?P<unit>[mµun]?s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|a|yrs?|years?)",
    re.IGNORECASE,
)
UNIT = re.compile(r"^(?P<name>.*?[^\s\[(])\s*[\[(]\s*(?P<unit>[^\[\]()]*?)\s*[\])]$")
SINCE = re.compile(  # Days after application
    r"(?P<unit>seconds|minutes|hours|days) (?:after|since|from|post) .+", re.IGNORECASE
)
# Units that stand after a blank or an underscore. What may as well be part of a name, as A in conc_A, is one
# only after a word for its quantity.
OVER = r"[mµu]?g|kg|[mµu]?[lL]|[mµun]?mol|[mµu]?M|mm|cm|m|km|rad|cells"
UNDER = r"s2|s\^2|s²|s|min|h|d|day|[mµu]?[lL]|dm3|m3|m\^3|m³|cm3|m2|m\^2|m²|cm2|ha|kg|g|mg|mol"
RATIO_AFTER = re.compile(rf"(?P<name>.*[^\W_]) +(?P<unit>(?:{OVER})/(?:{UNDER}))")
UNDERSCORED = re.compile(rf"[^\W\d_]{{3,}}(?:_[^\W_]+)*?_(?P<over>{OVER})_(?:per_)?(?P<under>{UNDER})")
PLAIN = re.compile(
    r"[^\W\d_]{3,}.*[ _](?P<unit>[mk]V|[mµu]A|[mk]W|kN|[kMh]?Pa|mbar|[kM]?Hz|rpm|mm|cm|[mk]g|m[lL]|[mµun]mol|"
    r"[mµun]M|rad|ppm|deg[CF])"
)
OF_QUANTITY = re.compile(
    r"(?:.*[ _])?(?:(?i:volt|voltage|spannung|potential)[ _](?P<volt>V)|"
    r"(?i:current|strom)[ _](?P<ampere>A)|(?i:power|leistung)[ _](?P<watt>W)|"
    r"(?i:force|kraft|thrust)[ _](?P<newton>N)|(?i:temp|temperature|temperatur)[ _](?P<degree>K|C|F)|"
    r"(?i:position|distance|displacement|height|depth)[ _](?P<metre>m)|(?i:volume)[ _](?P<litre>[lL])|"
    r"(?i:mass|weight)[ _](?P<gram>g)|(?i:pressure|druck)[ _](?P<bar>bar)|"
    r"(?i:angle|winkel|theta)[ _](?P<angle>deg))"
)


def parted(header: str) -> tuple[str, str]:
    """Return name and unit of a header such as `u [m]`, `time (s)`, `U / mV` or `c mg/L`; u(t) is none."""
    header = header.strip().strip('"').strip()
    name, slash, unit = header.rpartition(" / ")
    if slash and is_unit(unit):
        return name.strip(), unit.strip()
    found = UNIT.match(header) or RATIO_AFTER.fullmatch(header)
    if found is None:
        return header, ""
    return found["name"].strip(), "" if found["unit"] == "t" else found["unit"]


def time_unit(name: str) -> tuple[str, str]:
    """Return word and unit of a name of time such as `time_h`; of another the name and no unit."""
    found = TIME.fullmatch(name.strip())
    if found is None:
        return name, LONE_UNITS.get(name.strip().lower(), "")
    return found["word"], found["unit"]


def unit_in_name(name: str) -> str:
    """Return the unit that a name ends with or tells: of time, or as in `speed_rad_s` and `voltage_V`."""
    name = name.strip()
    since = SINCE.fullmatch(name)
    if since is not None:
        return LONE_UNITS[since["unit"].lower()]
    ratio = UNDERSCORED.fullmatch(name)
    if ratio is not None:
        return f"{ratio['over']}/{ratio['under']}"
    alone, known = PLAIN.fullmatch(name), OF_QUANTITY.fullmatch(name)
    unit = alone["unit"] if alone else known[known.lastgroup or 0] if known else time_unit(name)[1]
    return DEGREES.get(unit.lower(), f"°{unit}" if known and unit in "CF" else unit)
