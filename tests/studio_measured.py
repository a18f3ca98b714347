"""Measurements as instruments and spreadsheets write them, of systems whose law is known."""

import io
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

STEP = 2.0  # seconds between two readings of the tanks


def growth() -> tuple[str, bytes]:
    """A growth curve below a preamble padded with separators, with decimal commas and a column of remarks."""
    t = np.arange(0, 24.5, 0.5)
    u = 1.42 / (1 + 30 * np.exp(-0.55 * t)) + 0.008 * np.random.default_rng(3).standard_normal(len(t))
    rows = [f"{a:g};{b:.3f};".replace(".", ",") for a, b in zip(t, u, strict=True)]
    head = ["Plate reader export;;", "Gerät: 200;;", ";;", "Zeit [h]; OD600 (a.u.) ;Bemerkung"]
    return "growth.csv", "\r\n".join([*head, *rows]).encode("cp1252")


def shaken(t: float) -> float:
    """Return a force in newtons."""
    return 3 * np.sin(1.3 * t) + 2 * np.sin(3.1 * t + 1) + 1.5 * np.sin(5.2 * t)


def accelerometer() -> tuple[str, bytes]:
    """The acceleration of a mass of 1.2 kg on a spring, with the force on it."""
    t = np.arange(0, 20, 0.02)
    path = solve_ivp(
        lambda x, y: [y[1], -9 * y[0] - 0.6 * y[1] + shaken(x) / 1.2], (0, 20), [0, 0], t_eval=t, rtol=1e-9
    )
    a = -9 * path.y[0] - 0.6 * path.y[1] + shaken(t) / 1.2
    a = a + 0.03 * np.random.default_rng(4).standard_normal(len(t))
    rows = [f"{x:.2f},{f:.4f},{y:.4f}" for x, f, y in zip(t, shaken(t), a, strict=True)]
    return "shaker.csv", "\n".join(["Time (s),Force (N),Acceleration (m/s^2)", *rows]).encode()


def pelts() -> tuple[str, bytes]:
    """Yearly counts of hares and lynxes that feed on them."""
    years = np.arange(1900, 1926)
    path = solve_ivp(
        lambda _, y: [0.55 * y[0] - 0.028 * y[0] * y[1], -0.8 * y[1] + 0.024 * y[0] * y[1]],
        (0, 25), [30, 4], t_eval=years - 1900.0, rtol=1e-8,
    )  # fmt: skip
    counted = path.y * (1 + 0.04 * np.random.default_rng(0).standard_normal(path.y.shape))
    rows = [f"{year},{h:.1f},{x:.1f}" for year, (h, x) in zip(years, counted.T, strict=True)]
    return "pelts.csv", "\n".join(["year,hare,lynx", *rows]).encode()


def wells() -> tuple[str, bytes]:
    """Eight wells of a plate, each with its own rate and capacity."""
    t, rng = np.arange(0, 20.01, 0.5), np.random.default_rng(1)
    rates, ends = rng.uniform(0.45, 0.75, 8), rng.uniform(0.9, 1.6, 8)
    columns = [
        k / (1 + (k / 0.03 - 1) * np.exp(-r * t)) + 0.006 * rng.standard_normal(len(t))
        for r, k in zip(rates, ends, strict=True)
    ]
    rows = [",".join(f"{x:.4f}" for x in row) for row in np.column_stack([t, *columns])]
    return "plate.csv", "\n".join(["Time [h]," + ",".join(f"A{i}" for i in range(1, 9)), *rows]).encode()


def valve() -> tuple[str, bytes]:
    """A temperature that follows a valve after a dead time of six seconds."""
    rng, t, temperature = np.random.default_rng(5), np.arange(200.0), [0.0]
    opening = np.repeat(rng.uniform(10, 80, 8).round(2), 25)
    late = np.concatenate([np.full(6, opening[0]), opening[:-6]])
    for value in late[:-1]:
        rest = value * 0.6
        temperature.append(rest + (temperature[-1] - rest) * np.exp(-0.05))
    noisy = temperature + 0.1 * rng.standard_normal(len(t))
    rows = [
        f"{a:g};{b};{c:.3f}" for a, b, c in zip(t.tolist(), opening.tolist(), noisy.tolist(), strict=True)
    ]
    return "valve.csv", "\n".join(["time_s;valve_opening;rise_K", *rows]).encode()


def workbook() -> tuple[str, bytes]:
    """A cup that cools, on the second sheet of a workbook."""
    import openpyxl

    rng, book = np.random.default_rng(6), openpyxl.Workbook()
    book.active["A1"] = "Cooling of a cup of tea"
    sheet = book.create_sheet("Data")
    sheet.append(["Time [min]", "T [°C]"])
    for i in range(41):
        sheet.append([i, round(21 + 68 * np.exp(-0.045 * i) + 0.15 * rng.standard_normal(), 2)])
    made = io.BytesIO()
    book.save(made)
    return "cup.xlsx", made.getvalue()


def tablets() -> tuple[str, bytes]:
    """Eight people who swallowed a tablet each, as R keeps such tables: the dose stands in every row."""
    rng, rows = np.random.default_rng(7), ['"","Subject","Wt","Dose","Time","conc"']
    times = np.array([0, 0.25, 0.5, 1, 2, 3.5, 5, 7, 9, 12, 24])
    for i in range(1, 9):
        weight = round(rng.uniform(55, 90), 1)
        dose = round(320 / weight, 2)
        ka, ke, v = np.array([1.6, 0.09, 0.45]) * np.exp(np.array([0.3, 0.1, 0.1]) * rng.standard_normal(3))
        curve = dose * ka / v / (ka - ke) * (np.exp(-ke * times) - np.exp(-ka * times))
        for t, c in zip(times.tolist(), curve + 0.2 * rng.standard_normal(len(times)), strict=True):
            rows.append(f'"{len(rows)}","{i}",{weight},{dose},{t:g},{max(c, 0):.2f}')
    return "tablets.csv", "\n".join(rows).encode()


def tanks() -> tuple[str, bytes]:
    """Two tanks, of which the level of the lower one was measured."""
    rng, levels, lower = np.random.default_rng(8), np.array([2.0, 2.0]), []
    pump = np.repeat(rng.uniform(1, 6, 20).round(1), 10)
    for volts in pump:
        lower.append(levels[1] + 0.01 * rng.standard_normal())
        rates = _rates(float(volts))
        levels = solve_ivp(rates, (0, STEP), levels, rtol=1e-8, atol=1e-9).y[:, -1]
    rows = [f"{STEP * i:g},{p},{c:.3f}" for i, (p, c) in enumerate(zip(pump, lower, strict=True))]
    return "tanks.csv", "\n".join(["t [s],pump [V],lower level [cm]", *rows]).encode()


def _rates(pump: float) -> Callable[[float, np.ndarray], list[float]]:
    def of(_: float, x: np.ndarray) -> list[float]:
        out, below = 0.25 * np.sqrt(max(x[0], 0)), 0.2 * np.sqrt(max(x[1], 0))
        return [0.1 * pump - out, out - below]

    return of
