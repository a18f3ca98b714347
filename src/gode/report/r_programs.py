"""The pieces of exported programs in R: for deSolve, and for rxode2."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Interpolation
from gode.equation.operators import Function
from gode.equation.printer import Dialect, write
from gode.report.dialects import PLAIN, Fields, derivatives, with_inputs, with_more_names
from gode.report.drives import Known
from gode.report.program import Program, function_name, number_list, parameter_lines, piece, table_fields

GIVE = "y[doses_at$entry[d]] <- y[doses_at$entry[d]] + doses_at$amount[d]"


def r_fields(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return the pieces of a program in R for deSolve."""
    dialect = with_inputs(PLAIN, program, "{}")
    names = [function_name(known) for known in program.inputs]
    starts = zip(program.names.values(), program.initial, strict=True)
    entries, same = {column: i + 1 for i, column in enumerate(program.names)}, repr(program.same_time)
    seen = [f"{name} = {write(tree, dialect)}" for name, tree in program.observed.items()]
    unpack = [f"  {name} <- y[[{i + 1}]]" for i, name in enumerate(program.names.values())]
    unpack += [f"  {name} <- given$inputs${name}(min(t + {same}, given$until))" for name in names]
    observe = {"unpack": "\n".join(unpack), "formulas": ", ".join(seen)}
    unpack += [
        f"  {name} <- given$past(min(t, given$until) - {write(each.by, PLAIN)}, {entries[each.column]})"
        for name, each in program.late.items()
    ]
    row = "observe(rows[k, 1], rows[k, 1 + seq_along(y)], list(inputs = inputs, until = Inf))"
    seeing = f"cbind(rows, do.call(rbind, lapply(seq_len(nrow(rows)), function(k) {row})))"
    return {
        **_r_driven(program, shared),
        "parameters": parameter_lines(program.parameters, "{} <- {}  # +- {}", repr),
        "given": ", with the inputs among its parameters" if names else "",
        "named_initial": ", ".join(f"{name} = {value!r}" for name, value in starts),
        "jumps": _r_numbers(program.jumps),
        "inputs": "\n".join(_r_input(known, dialect) for known in program.inputs),
        "known": ", ".join(f"{name} = {name}" for name in names),
        "unpack": "\n".join(unpack),
        "derivatives": ",\n".join(f"    {row}" for row in derivatives(program, dialect)),
        "observe": piece("r-observe", observe) if seen else "",
        "seen": ", and what is measured" if seen else "",
        "result": seeing if seen else "rows",
    }


def _r_driven(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return how a solution goes from one jump, dose or bend to the next."""
    same = repr(program.same_time)
    stops = ["  stops <- jumps_at"]
    give, late, fine, keep = "", "", "", ""
    if program.given:
        early = f"doses_at$time > begin - 1e-9 * (end - begin) & doses_at$time < begin - {same}"
        stops += [f"  for (d in which({early})) {GIVE}", "  stops <- c(stops, doses_at$time)"]
        give = f"    for (d in which(abs(doses_at$time - edges[i]) <= {same})) {GIVE}"
    if program.late:
        delays = ", ".join(write(each.by, PLAIN) for each in program.late.values())
        stops += [f"  delays <- c({delays})  # steps end where the solution bends, and no piece is longer"]
        bends = "outer(c(begin, stops), as.vector(outer(delays, 1:5)), `+`)"
        stops += [f"  stops <- c(stops, {bends}, seq(begin, end, by = min(delays)))"]
        late = piece("r-late", {"same": same})
        between = f"ceiling((edges[i + 1] - edges[i]) / {shared['longest']}) + 1"
        fine = f"    asked <- sort(unique(c(asked, seq(edges[i], edges[i + 1], length.out = {between}))))"
        slopes = (
            "t(sapply(seq_along(asked), function(k) rhs(asked[k], solved[k, 1 + seq_along(y)], given)[[1]]))"
        )
        keep = f"    pieces[[i]] <- list(t = asked, y = solved, dy = matrix({slopes}, ncol = length(y)))"
    columns = [
        f"  {name} = c{number_list(np.array(values), '()')}"
        for name, values in zip(("time", "entry", "amount"), zip(*program.given, strict=True), strict=False)
    ]
    table = ",\n".join(columns).replace("entry = c(", "entry = 1 + c(")
    told = "# Doses: the time, the entry of the state, what is added to it."
    return {
        "doses": f"{told}\ndoses <- list(\n{table}\n)\n" if program.given else "",
        "options": ", doses_at = doses" if program.given else "",
        "stops": "\n".join(stops),
        "same": same,
        "give": give,
        "late": late,
        "fine": fine,
        "past": ", past = past" if program.late else "",
        "keep": keep,
    }


def _r_input(known: Known, dialect: Dialect) -> str:
    """Return an input of the data as a function of time in R."""
    name = function_name(known)
    if known.formula is not None:
        return f"# The known input {known.name}.\n{name} <- function(t) {write(known.formula, dialect)}\n"
    rows = ",\n".join(f"    {', '.join(map(repr, row))}" for row in known.pieces.tolist())
    last = str(max(len(known.knots) - 1, 1))
    return piece("r-table", {**table_fields(known, "()", "()"), "pieces": rows, "last": last})


def rxode2_fields(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return the pieces of a model in R for rxode2."""
    dialect = replace(with_inputs(PLAIN, program, "{}"), call=_rxode2_call)
    late = program.late.values()
    delays = {each.name: f"delay({program.names[each.column]}, {write(each.by, dialect)})" for each in late}
    dialect, states = with_more_names(dialect, delays), [*program.names.values()]
    slopes = zip(states, derivatives(program, dialect), strict=True)
    sampled = [known for known in program.inputs if known.formula is None]
    given = [(function_name(known), known.formula) for known in program.inputs if known.formula is not None]
    names = [function_name(known) for known in sampled]
    held = all(known.kind is Interpolation.HOLD for known in sampled)
    doses = "\n".join(f'  list({t!r}, "{states[entry]}", {amount!r}),' for t, entry, amount in program.given)
    return {
        "parameters": parameter_lines(program.parameters, "  {} <- {}  # +- {}", repr),
        "formulas": "\n".join(f"  {name} <- {write(formula, dialect)}" for name, formula in given),
        "derivatives": "\n".join(f"  d/dt({name}) <- {slope}" for name, slope in slopes),
        "starts": "\n".join(
            f"  {name}(0) <- {value!r}" for name, value in zip(states, program.initial, strict=True)
        ),
        "observed": "\n".join(
            f"  {name} <- {write(tree, dialect)}" for name, tree in program.observed.items()
        ),
        "inputs": "\n".join(_r_input(known, dialect) for known in sampled),
        "knots": "".join(f", environment({name})$knots" for name in names)
        + ("" if held else f", {_r_numbers(program.jumps - 1e-9 * (program.stop - program.start))}"),
        "doses": piece("rxode2-doses", {"doses": doses.rstrip(",")}) if program.given else "",
        "covariates": "\n".join(f"events${name} <- sapply(events$time, {name})" for name in names),
        "joined": "locf" if sampled and held else "linear",
    }


def _r_numbers(values: Float) -> str:
    return f"c{number_list(values, '()')}"


def _rxode2_call(function: Function, argument: str) -> str:
    if function.name == "sign":
        return f"(({argument} > 0) - ({argument} < 0))"
    return function.call(argument, "julia")
