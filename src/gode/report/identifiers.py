"""Names of states in programs: words of no language, and none that the programs use themselves."""

import keyword
import re
from collections.abc import Sequence

SCALAR = {"u": "u", "u'": "v"}  # what a single state and its derivative are called
RATE = "_rate"  # behind the name of a state, for its derivative
CLASHING = re.compile(
    r"_|input_|c\d+$|M_|FP_|SEEK_|EXIT_|HUGE_VAL|FD_|MATH_|W(?:EXIT|NO|STOP|TERM|CONT)|L_"
)  # inputs and constants of a program, and what C reserves
KEYWORDS = (  # of C, Julia, MATLAB, Modelica and R
    "FALSE Inf NA NA_character_ NA_integer_ NA_real_ NaN TRUE next repeat "
    "abs algorithm and annotation array auto baremodule begin block break case catch char class connect "
    "connector const constant constrainedby continue default der discrete do double each else elseif "
    "elsewhen encapsulated end enum enumeration equation expandable export extends extern external false "
    "final finally float flow for function global goto if import impure in initial inner inline input int "
    "let local long loop macro model module mutable not operator or otherwise outer output package "
    "parameter parfor partial persistent primitive protected public pure quote record redeclare register "
    "replaceable restrict return short signed sizeof spmd static stream struct switch then time true try "
    "type typedef union unsigned using void volatile when while within"
)
MACROS = (  # which a compiler of C replaces, or whose functions the programs call
    "BUFSIZ EOF FILENAME_MAX INFINITY NAN NULL RAND_MAX alloca arm errno fabs fprintf hpux i386 isfinite "
    "linux mips pow printf signgam sparc stderr stdin stdout sun unix vax"
)
OWN_WORDS = (
    "INITIAL JUMPS advance dy force given initial joined jumps main np p pi plant r rhs simulate solve_ivp "
    "start stop t time y"
)
TAKEN = {*keyword.kwlist, *KEYWORDS.split(), *MACROS.split(), *OWN_WORDS.split()}


def element_names(columns: Sequence[str]) -> dict[str, str]:
    """Return what the columns of the state vector are called in a program."""
    if {*columns} <= {*SCALAR}:
        return {column: SCALAR[column] for column in columns}
    out: dict[str, str] = {}
    for column in columns:
        name = "".join(c if c.isascii() else "_" for c in column.rstrip("'")) + RATE * column.count("'")
        if name in TAKEN or CLASHING.match(name):
            name = f"state_{name}"
        while name in out.values():
            name += "_"
        out[column] = name
    return out
