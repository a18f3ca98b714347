"""What doses do to the state of a solver, one after the other (compiled)."""

from gode.compiling import inner_njit


@inner_njit
def next_jump(jumps, done, end):
    """Return the time of dose number `done`, or `end` if that is earlier."""
    return min(jumps.t[done], end) if done < len(jumps.t) else end


@inner_njit
def give(jumps, i, c, param, y, rate, rate_slope):
    """Add dose number `i` to the state and its sensitivities in `y` (n, 1 + params) and to the rates (d,)."""
    share, equation, entry = jumps.share[i], jumps.equation[i], jumps.entry[i]
    factor = c[share] if share >= 0 else 1.0
    y[entry, 0] += factor * jumps.amount[i]
    rate[equation] += factor * jumps.rate[i]
    for p in range(len(param)):
        if share >= 0 and param[p] == share:
            y[entry, p + 1] += jumps.amount[i]
            rate_slope[equation, p] += jumps.rate[i]
