"""Ten files more, written after the guesser was done and never used to change it."""

import numpy as np

from instrument_files import (
    N,
    Saved,
    T,
    clocks,
    dates,
    decay,
    growth,
    heated,
    hunted,
    lines,
    matlab,
    ringing,
    rows_of,
    workbook,
)  # fmt: skip


def fluke() -> Saved:
    volts = 230 + 5 * ringing()
    head = "Fluke Connect;Model 289;SN 4711\nReading;Sample;Start Time;Duration"
    stamps = dates("%d/%m/%Y %H:%M:%S", minutes=0.5)
    body = [f"{i + 1};{v:.3f} ;{s};0:00:30" for i, (v, s) in enumerate(zip(volts, stamps, strict=True))]
    return Saved(
        "fluke.csv", lines(head, body), "Start Time", ("Sample",), unit="min", first=(0.0, round(volts[0], 3))
    )


def envirologger() -> Saved:
    level, flow = 2 + 0.3 * ringing(rate=0.2), 5 + ringing(rate=0.2, phase=1.3)
    head = (
        "# station: Aare 2135\n# unit: m, m3/s\nTimeStamp (UTC),Level (m),Discharge (m3/s),Battery (V),QFlag"
    )
    body = rows_of("{},{:.3f},{:.3f},12.{:d},0", dates("%Y-%m-%dT%H:%M:%SZ", minutes=60), level, flow, T % 3)
    return Saved(
        "enviro.csv", lines(head, body), "TimeStamp", ("Level", "Discharge"), unit="h",
        first=(0.0, round(level[0], 3), round(flow[0], 3)),
    )  # fmt: skip


def hplc() -> Saved:
    a, b = decay(rate=0.1), 80 - decay(rate=0.1, seed=3) * 0.9
    head = "Sequence report\nOperator\tKM\n\nInjection\tt [min]\tReactant [mM]\tProduct [mM]\tRemarks"
    body = [
        f"{i + 1}\t{2 * i}\t{x:.3f}\t{max(y, 0.5):.3f}\t" for i, (x, y) in enumerate(zip(a, b, strict=True))
    ]
    body[12] = f"13\t24\t{a[12]:.3f}\tn.d.\tcolumn blocked"
    return Saved(
        "hplc.txt", lines(head, body), "t", ("Reactant", "Product"), unit="min",
        first=(0.0, round(a[0], 3), round(max(b[0], 0.5), 3)),
    )  # fmt: skip


def octave() -> Saved:
    x, y = hunted()
    body = rows_of(" {:.8e} {:.8e} {:.8e}", 0.5 * T, x, y)
    head = "# Created by Octave 8.4.0\n# name: M\n# type: matrix\n# rows: 36\n# columns: 3"
    return Saved(
        "octave.txt", lines(head, body), "column 1", ("column 2", "column 3"), first=(0.0, x[0], y[0])
    )


def motor_bench() -> Saved:
    volt, speed = heated(low=0, high=12, start=0.0)
    body = rows_of("{:.2f},{:.1f},{:.3f}", 0.05 * T, volt, speed)
    return Saved(
        "motor.csv", lines("Time (s),Motor_Voltage (V),Omega (rad/s)", body), "Time", ("Omega",),
        inputs=("Motor_Voltage",), unit="s", first=(0.0, round(speed[0], 3)),
    )  # fmt: skip


def bioreactor() -> Saved:
    rows: list[list[object]] = [["Fermentation 12", None, None, None], [None] * 4]
    rows += [["Age (h)", "Biomass (g/L)", "Glucose (g/L)", "Feed pump (mL/h)"]]
    biomass, glucose, feed = growth(), decay(size=20), np.where(T > 20, 12.0, 0.0)
    rows += [
        [float(t), float(a), float(b), float(c)] for t, a, b, c in zip(T, biomass, glucose, feed, strict=True)
    ]
    return Saved(
        "bioreactor.xlsx", workbook({"Info": [["strain", "K12"]], "Data": rows}), "Age",
        ("Biomass", "Glucose"), inputs=("Feed pump",), unit="h",
        first=(0.0, float(biomass[0]), float(glucose[0])),
    )  # fmt: skip


def patients() -> Saved:
    body = []
    for patient in ("A17", "B03", "C22"):
        for i, hour in enumerate((0.5, 1, 2, 4, 8, 12)):
            body.append(
                f"{patient};{str(hour).replace('.', ',')};{9 * np.exp(-0.2 * hour) + 0.01 * i:.2f}".replace(
                    ".", ","
                )
            )
    return Saved(
        "patients.csv", lines("Proband;Zeit [h];Konzentration [mg/l]", body), "Zeit", ("Konzentration",),
        run="Proband", unit="h", first=(0.5, round(9 * np.exp(-0.1), 2)), decimal=",",
    )  # fmt: skip


def simulink() -> Saved:
    drive, y = heated(low=-1, high=1, start=0.0)
    return Saved(
        "simulink.mat", matlab(time=0.1 * T.astype(float), u=drive, y=y), "time", ("y",), inputs=("u",),
        first=(0.0, y[0]),
    )  # fmt: skip


def cells_by_clock() -> Saved:
    od = [growth(seed=i) for i in range(3)]
    body = rows_of("{}\t{:.3f}\t{:.3f}\t{:.3f}", clocks(20), *od)
    return Saved(
        "clock.tsv", lines("Time\tSample 1\tSample 2\tSample 3", body), "Time",
        ("Sample 1", "Sample 2", "Sample 3"), wells=True, unit="h", first=(0.0, round(od[0][0], 3)),
    )  # fmt: skip


def esp32() -> Saved:
    power, temp = heated(high=100)
    body = [f"{500 * i} {t:.2f} {p:.0f}" for i, t, p in zip(T, temp, power, strict=True)]
    head = "ets Jun  8 2016 00:22:57\nrst:0x1 (POWERON_RESET)\ntime_ms temperature pwm"
    return Saved(
        "esp32.log", lines(head, body), "time_ms", ("temperature",), inputs=("pwm",), unit="ms",
        first=(0.0, round(temp[0], 2)),
    )  # fmt: skip


assert len(T) == N
UNSEEN = (
    fluke, envirologger, hplc, octave, motor_bench, bioreactor, patients, simulink, cells_by_clock, esp32,
)  # fmt: skip
