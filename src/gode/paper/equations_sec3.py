"""The 43 equations of the paper's benchmarks B1, B2 and B3 (sec. 3), the misprints of the preprint corrected.

A comment tells what is printed. How they are sampled and scored is no part of this package: the benchmarks
are one of their own.
"""

from gode.equation import Skeleton, parse_equation

# fmt: off
EQUATIONS = {
    # Suite B1.
    "ID1": "u' + u/(1.2*2.31) = 0.7/2.31",
    "ID2": "u' - 0.23*u = 0",
    "ID3": "u' - 0.79*u + 0.79/74.3*u^2 = 0",
    "ID4": "u' - 1/(1 + exp(0.5 - u/0.96)) = -0.5",
    "ID5": "u' + 0.0021175*u^2 = 9.81",
    "ID6": "u' - 2.1*u + 0.5*u^2 = 0",
    "ID7": "u' - 0.032*u*log(2.29*u) = 0",
    "ID8": "u' - 0.14*u*(u/4.4 - 1)*(1 - u/130) = 0",
    "ID9": "u' + 0.6*u = 0.32",
    "ID10": "u' - 0.2*u^1.2*(1 - u) + 0.8*u*(1 - u)^1.2 = 0",
    "ID11": "u' + u^3 = 0",
    "ID12": "u' - 1.8*u + 0.1107*u^2 = 0",
    "ID13": "u' - 0.0981*(9.7*cos(u) - 1)*sin(u) = 0",
    "ID14": "u' - 0.78*u*(1 - u/81) + 0.9*u^2/(21.2^2 + u^2) = 0",
    "ID15": "u' - 0.4*u*(1 - u/95) + u^2/(1 + u^2) = 0",
    "ID16": "u' - 0.1*u - 0.04*u^3 + 0.001*u^5 = 0",
    "ID17": "u' - 0.4*u*(1 - u/100) = -0.3",
    "ID18": "u' - 0.4*u*(1 - u/100) + 0.24*u/(50 + u) = 0",
    # printed: u' + 0.08 u u/(0.8 + u) + u (1 - u) = 0
    "ID19": "u' - u*(1 - u) + 0.08*u/(0.8 + u) = 0",
    # printed: + u²/(u² + 1)
    "ID20": "u' + 0.55*u - u^2/(u^2 + 1) = 0.1",
    # printed: u' - 0.2 u + exp(u) = 1.2
    "ID21": "u' + 0.2*u + exp(-u) = 1.2",
    "ID22": "u' - 0.4*u^5/(123 + u^5) + 0.89*u = 1.4",
    "ID23": "u' + sin(u) = 0.21",
    "ID24": "u' + sin(0.2*t*u) = 0.21",
    "ID25": "u' + u = -0.9832*cos(0.132*t)",
    "ID26": "u' - exp(1.73/u) = -7.928",
    "ID27": "u' - exp(1.03*u) = cos(0.2*t) - 7.928",
    "ID28": "u' - 4.21*u*(2.1 - 0.15*u) = 2.1*t*cos(t)",
    "ID29": "u' - 0.1137*u = -9.7*sin(1.32*t)",
    "ID30": "u' - 0.0837*u - log(7.293*u) = 0",  # printed: a second ID27
    # Suite B2.
    "LODE1": "u' + u/t - 2 = 0",  # printed: u/2
    "LODE2": "u' + u*cos(t)/sin(t) - 1/sin(t) = 0",
    "LODE3": "u' + u/5 - exp(-t/5)*cos(t) = 0",
    "LODE4": "u'' + 64*u = 0",
    "LODE5": "u'' - 6*u' + 9*u = 0",
    "NLODE1": "u' - 1/(2*u) = 0",
    "NLODE2": "u''*u' + 4/t^3 = 0",
    "NLODE3": "u''*t^2 + u'^2*t^2 + 1/log(t) = 0",
    "NLODE4": "u''^2 - 81*u^2 = 0",  # printed: 9 u²
    "NLODE5": "u''*u' - 2.1*u - 9.84*t^3 = 0",
    # Suite B3.
    "Pendulum": "2*u'' + u' + 5*u = F",
    "Duffing": "5*u'' + u' + 7*u + 25*u^3 = F",
    # The damping is as printed, although the classical equation has the other sign.
    "VanDerPol": "u'' + 5*(1 - u^2)*u' + u = F",
}
# fmt: on


def true_skeletons() -> tuple[Skeleton, ...]:
    """Return the equations with a free constant for every number, in the order of the paper."""
    return tuple(parse_equation(text).skeleton for text in EQUATIONS.values())
