"""Ten files as people save them, written before reading was changed for any of them.

The layouts are from knowledge of the formats and are none of those in `instrument_files` and
`unseen_files`. Five of them were read right at once. What is right was changed in two places since: a name is
`T` where the file says `T / min`, and a voltage is taken as what drives a current, which is said.
"""

import numpy as np

from instrument_files import (
    N,
    Saved,
    T,
    dates,
    decay,
    growth,
    heated,
    hunted,
    lines,
    ringing,
    rows_of,
    workbook,
)  # fmt: skip


def press() -> Saved:
    """Semicolons, decimal commas, a row of units, a last semicolon, and means at the end."""
    force, way = 40 + 20 * ringing(rate=0.3), 3 + ringing(rate=0.3, phase=1.0)
    head = "Prüfstand 4;;;\nPrüfer: Kern;;;\nDatum: 13.03.2024;;;\n;;;\nZeit;Druck;Weg;\ns;mbar;mm;"
    body = rows_of("{:.2f};{:.3f};{:.4f};", 0.25 * T, force, way, comma=True)
    return Saved(
        "press.csv", lines(head, body, "Mittelwert;40,112;3,0231;", encoding="latin-1", end="\r\n"), "Zeit",
        ("Druck", "Weg"), unit="s", first=(0.0, round(force[0], 3), round(way[0], 4)), decimal=",",
    )  # fmt: skip


def tanks_xlsx() -> Saved:
    """Excel with a group above each name, merged over its columns."""
    pump, level = heated(low=0, high=6, start=12.0)
    rows: list[list[object]] = [
        ["", "Tank 1", None, "Pump"],
        ["time (min)", "level (cm)", "salt (g/L)", "flow (L/min)"],
    ]
    salt = 3 + ringing(rate=0.15)
    rows += [
        [float(t), float(a), float(b), float(c)] for t, a, b, c in zip(T, level, salt, pump, strict=True)
    ]
    return Saved(
        "tanks.xlsx", workbook({"Run 7": rows}), "time", ("level", "salt"), inputs=("flow",), unit="min",
        first=(0.0, float(level[0]), float(salt[0])),
    )  # fmt: skip


def r_write_csv2() -> Saved:
    """R's write.csv2 of a data frame with row names, subjects and missing values."""
    body = []
    for subject in ("anna", "ben"):
        for i in range(18):
            value = f"{9 * np.exp(-0.2 * i) + 0.01 * (i % 3):.3f}".replace(".", ",") if i != 5 else "NA"
            body.append(f'"{len(body) + 1}";"{subject}";{0.5 * i:g};{value}'.replace(".", ","))
    return Saved(
        "r2.csv", lines('"";"subject";"hours";"conc"', body), "hours", ("conc",), run="subject", unit="h",
        first=(0.0, 9.0), decimal=",",
    )  # fmt: skip


def matlab_comments() -> Saved:
    """Columns of a MATLAB script, whose names and units stand in the last of its comments."""
    theta, omega = ringing(size=0.4), -0.2 * ringing(phase=np.pi / 2)
    head = "% pendulum_run.m  13-Mar-2024\n% g = 9.81, L = 0.35\n%   t [s]        theta [rad]    gyro [rad/s]"
    body = rows_of("  {:.7e}  {: .7e}  {: .7e}", 0.05 * T, theta, omega)
    return Saved(
        "pendulum.txt", lines(head, body), "t", ("theta", "gyro"), unit="s",
        first=(0.0, round(theta[0], 7), round(omega[0], 8)),
    )  # fmt: skip


def labview_multi() -> Saved:
    """LabVIEW with a column of times for each channel."""
    volt, amp = 3 + ringing(rate=0.2), 0.4 + 0.1 * ringing(rate=0.2, phase=1.2)
    head = (
        "LabVIEW Measurement\t\nWriter_Version\t2\nReader_Version\t2\nSeparator\tTab\nDecimal_Separator\t.\n"
        "Multi_Headings\tYes\nX_Columns\tMulti\nTime_Pref\tRelative\nOperator\tlab2\nDate\t2024/03/13\n"
        "Time\t10:00:00.3719682693481445312\n***End_of_Header***\t\n\t\nChannels\t2\t\t\t\n"
        "Samples\t36\t\t36\t\nDate\t2024/03/13\t\t2024/03/13\t\nTime\t10:00:00.37\t\t10:00:00.37\t\n"
        "Y_Unit_Label\tVolts\t\tAmps\t\nX_Dimension\tTime\t\tTime\t\nX0\t0.0E+0\t\t0.0E+0\t\n"
        "Delta_X\t0.1\t\t0.1\t\n***End_of_Header***\t\t\t\t\nX_Value\tVoltage_0\tX_Value\tCurrent_0\tComment"
    )
    body = rows_of("{:.6f}\t{:.6f}\t{:.6f}\t{:.6f}", 0.1 * T, volt, 0.1 * T, amp)
    return Saved(
        "multi.lvm", lines(head, body), "X_Value", ("Current_0",), inputs=("Voltage_0",),
        first=(0.0, round(amp[0], 6)),
    )  # fmt: skip


def serial_plotter() -> Saved:
    """An Arduino that writes the name of each value before it, as its serial plotter wants."""
    power, temp = heated(high=255)
    body = [f"millis:{500 * i},temp:{t:.2f},heater:{p:.0f}" for i, t, p in zip(T, temp, power, strict=True)]
    return Saved(
        "plotter.log", lines("Boot ok, sensor 0x76 found", body, end="\r\n"), "millis", ("temp",),
        inputs=("heater",), unit="ms", first=(0.0, round(temp[0], 2)),
    )  # fmt: skip


def trailing_tabs() -> Saved:
    """A spectrometer: tabs at every end, lines of an old Mac, units behind a slash, a sentence at the end."""
    a, b = decay(size=1.2, rate=0.1), growth(most=0.9)
    head = "Kinetics scan #12\t\t\t\t\nLambda 35\t\t\t\t\nT / min\tA(412 nm)\tA(560 nm)\t\t"
    body = rows_of("{:.1f}\t{:.4f}\t{:.4f}\t\t", 0.5 * T, a, b)
    return Saved(
        "scan.tsv", lines(head, body, "End of scan\t\t\t\t", end="\r"), "T",
        ("A(412 nm)", "A(560 nm)"), unit="min", first=(0.0, round(a[0], 4), round(b[0], 4)),
    )  # fmt: skip


def influx() -> Saved:
    """An annotated export of a time series database, with times of a zone and columns that say the same."""
    level = 2 + 0.3 * ringing(rate=0.2)
    head = (
        "#group,false,false,true,true,false,false,true,true\n"
        "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string\n"
        "#default,_result,,,,,,,\n"
        ",result,table,_start,_stop,_time,_value,_field,_measurement"
    )
    start, stop = "2024-03-13T09:00:00Z", "2024-03-14T09:00:00Z"
    stamps = dates("%Y-%m-%dT%H:%M:%S.25+01:00")
    body = rows_of(",,0," + f"{start},{stop}," + "{},{:.4f},level,tank", stamps, level)
    return Saved(
        "influx.csv", lines(head, body, end="\r\n"), "_time", ("_value",), unit="h",
        first=(0.0, round(level[0], 4)),
    )  # fmt: skip


def plasma() -> Saved:
    """Columns apart by spaces, a point where nothing was measured, a word where it was too little."""
    body = []
    for patient in (101, 102, 103):
        body.append(f"{patient:>8}  {'predose':>9}{0:8.2f}{'.':>10}{320:7}")
        for hour in (0.25, 0.5, 1, 2, 4, 8, 12, 24):
            value = 9 * np.exp(-0.25 * hour) + 0.001 * patient
            shown = "BLQ" if hour == 24 else f"{value:.3f}"
            body.append(f"{patient:>8}  {'post':>9}{hour:8.2f}{shown:>10}{'.':>7}")
    head = f"{'SUBJECT':>8}  {'PHASE':>9}{'TIME':>8}{'CONC':>10}{'DOSE':>7}\n"
    head += f"{'':>8}  {'':>9}{'(h)':>8}{'(mg/L)':>10}{'(mg)':>7}"
    first = 9 * np.exp(-0.0625) + 0.101
    return Saved(
        "plasma.dat", lines(head, body), "TIME", ("CONC",), run="SUBJECT", unit="h",
        first=(0.25, round(first, 3)),
    )  # fmt: skip


def unicode_text() -> Saved:
    """Excel's "Unicode text" in German: UTF-16, tabs, points between thousands, dates with the day first."""
    rabbits, foxes = 50 * hunted()[0], 4 * hunted()[1]

    def german(value: float) -> str:
        return f"{value:,.1f}".replace(",", " ").replace(".", ",").replace(" ", ".")

    stamps = dates("%d.%m.%Y %H:%M", minutes=720)
    body = [f"{s}\t{german(a)}\t{german(b)}" for s, a, b in zip(stamps, rabbits, foxes, strict=True)]
    return Saved(
        "zaehlung.txt", lines("Datum\tKaninchen\tFüchse", body, end="\r\n", encoding="utf-16"), "Datum",
        ("Kaninchen", "Füchse"), unit="d", first=(0.0, round(rabbits[0], 1), round(foxes[0], 1)), decimal=",",
    )  # fmt: skip


assert len(T) == N
SAVED = (
    press, tanks_xlsx, r_write_csv2, matlab_comments, labview_multi, serial_plotter, trailing_tabs, influx,
    plasma, unicode_text,
)  # fmt: skip
