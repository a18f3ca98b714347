"""How programs join the samples of an input, in each language."""

from gode.data import Interpolation

JOINED = {
    Interpolation.HOLD: "held until the next",
    Interpolation.LINEAR: "joined by lines",
    Interpolation.CUBIC: "joined by a cubic spline",
}
PYTHON_MAKE = {
    Interpolation.HOLD: "PPoly([samples[:-1]], t)",
    Interpolation.LINEAR: "lambda s: np.interp(s, t, samples)",
    Interpolation.CUBIC: "CubicSpline(t, samples)",
}
PYTHON_JOINED = {
    kind: f'\ndef joined(t, samples):\n    """Return samples as a function of time, {JOINED[kind]}."""\n'
    f"    return {make}"
    for kind, make in PYTHON_MAKE.items()
}
JULIA_JOINED = {
    "hold": "s -> samples[clamp(searchsortedlast(t, s), 1, length(t) - 1)]",
    "linear": """function (s)
    i = clamp(searchsortedlast(t, s), 1, length(t) - 1)
    return samples[i] + (samples[i + 1] - samples[i]) * (s - t[i]) / (t[i + 1] - t[i])
end""",
}
MATLAB_PIECES = {
    Interpolation.HOLD: "mkpp(t, samples(1:end - 1))",
    Interpolation.LINEAR: "mkpp(t, [diff(samples) ./ diff(t), samples(1:end - 1)])",
    Interpolation.CUBIC: "spline(t, samples)",
}
MAKERS = {Interpolation.HOLD: "PPoly", Interpolation.CUBIC: "CubicSpline"}  # of scipy
