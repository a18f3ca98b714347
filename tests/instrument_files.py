"""Files laid out as instruments, spreadsheets and languages write them, and what each column is.

The layouts are from knowledge of the formats; the numbers are made here. `FILES` was written before the
guesser was changed for it; what each file must be read as stands beside it.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

N = 36  # rows


@dataclass(frozen=True)
class Saved:
    """A file, and what is in it."""

    name: str
    data: bytes
    time: str
    states: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    run: str | None = None
    wells: bool = False  # whether each state is a run of its own
    unit: str = ""  # of the times as they are used
    first: tuple[float, ...] = ()  # time and states of the first row of readings
    decimal: str = "."


# What was measured


def growth(n: int = N, *, start: float = 0.05, most: float = 1.2, rate: float = 0.25, seed: int = 0):
    t = np.arange(n)
    noise = 0.004 * np.random.default_rng(seed).standard_normal(n)
    return most / (1 + (most / start - 1) * np.exp(-rate * t)) + noise * most


def heated(n: int = N, *, low: float = 0.0, high: float = 60.0, start: float = 20.0, seed: int = 0):
    """A heater that is switched every few rows, and the temperature that follows."""
    rng = np.random.default_rng(seed)
    power = np.where(np.arange(n) // 7 % 2 == 1, high, low)
    rise = np.zeros(n)
    for i in range(1, n):
        rise[i] = rise[i - 1] + 0.15 * (power[i - 1] / max(high, 1e-9) * 40 - rise[i - 1])
    return power, start + rise + 0.05 * rng.standard_normal(n)


def hunted(n: int = N, step: float = 0.5):
    """Prey and predator."""
    x, y = [30.0], [8.0]
    for _ in range(n - 1):
        a, b = x[-1], y[-1]
        for _ in range(50):
            a, b = (
                a + step / 50 * (0.55 * a - 0.028 * a * b),
                b + step / 50 * (0.026 * a * b - 0.8 * b),
            )
        x.append(a)
        y.append(b)
    return np.array(x), np.array(y)


def ringing(n: int = N, *, rate: float = 0.5, decay: float = 0.05, phase: float = 0.0, size: float = 1.0):
    t = np.arange(n)
    return size * np.exp(-decay * t) * np.cos(rate * t + phase)


def decay(n: int = N, *, size: float = 80.0, rate: float = 0.12, seed: int = 0):
    return size * np.exp(-rate * np.arange(n)) * (1 + 0.01 * np.random.default_rng(seed).standard_normal(n))


# How it is written


def lines(
    head: str, rows: Sequence[str], foot: str = "", *, end: str = "\n", encoding: str = "utf-8"
) -> bytes:
    text = head.strip("\n") + "\n" * bool(head.strip("\n")) + "\n".join(rows) + "\n" + foot.lstrip("\n")
    return text.replace("\n", end).encode(encoding)


def rows_of(form: str, *columns, comma: bool = False) -> list[str]:
    """Format the rows; `comma` writes decimal commas, so the form may hold no other point."""
    out = [form.format(*row) for row in zip(*columns, strict=True)]
    return [row.replace(".", ",") for row in out] if comma else out


def dates(form: str, *, start: str = "2024-03-13 10:00:00", minutes: float = 10.0, n: int = N) -> list[str]:
    first = datetime.fromisoformat(start)
    return [(first + timedelta(minutes=minutes * i)).strftime(form) for i in range(n)]


def clocks(minutes: float, n: int = N) -> list[str]:
    return [f"{int(m) // 60}:{int(m) % 60:02}:00" for m in minutes * np.arange(n)]


def workbook(sheets: dict[str, list[list[object]]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def matlab(**variables: object) -> bytes:
    from scipy.io import savemat

    out = io.BytesIO()
    savemat(out, variables)
    return out.getvalue()


T = np.arange(N)


# Plate readers


def reader_padded() -> Saved:
    od = growth()
    head = "Plate reader export;;\nDatum: 12.03.2024;;\n;;\nZeit [h]; OD600 (a.u.) ;Bemerkung"
    body = rows_of("{:.2f};{:.4f};", 0.25 * T, od, comma=True)
    body[0] += "Start"
    return Saved(
        "reader_padded.csv", lines(head, body, end="\r\n"), "Zeit", ("OD600",), unit="h",
        first=(0.0, round(od[0], 4)), decimal=",",
    )  # fmt: skip


def biotek() -> Saved:
    wells = [growth(seed=i, start=0.04 + 0.01 * i) for i in range(4)]
    cells = [[f"{v:.3f}" for v in well] for well in wells]
    cells[3][-2:] = ["OVRFLW", "OVRFLW"]
    head = (
        "Software Version\t3.08.01\n\n\nExperiment File Path:\tC:\\data\\plate 7.xpt\nPlate Number\tPlate 1\n"
        "Date\t13.03.2024\nTime\t10:12:44\nReader Type:\tSynergy H1\n\nProcedure Details\n\n"
        "Plate Type\t96 WELL PLATE\nSet Temperature\tSetpoint 37°C\nStart Kinetic\tRuntime 6:00:00\n\n600\n\n"
        "Time\tT° 600\tA1\tA2\tA3\tA4"
    )
    body = ["\t".join(row) for row in zip(clocks(10), ["37.0", "37.1"] * (N // 2), *cells, strict=True)]
    foot = "\nResults\n\nWell\tA1\tA2\tA3\tA4\nMax V\t55.1\t56.2\t57.0\t54.9\n"
    return Saved(
        "biotek.txt", lines(head, body, foot, end="\r\n", encoding="latin-1"), "Time",
        ("A1", "A2", "A3", "A4"), wells=True, unit="h", first=(0.0, float(cells[0][0])),
    )  # fmt: skip


def clariostar() -> Saved:
    one, two, blank = growth(), growth(seed=2), 0.05 + 0.001 * np.cos(T)
    head = (
        "User: LAB,Path: C:\\BMG\\Data,Test ID: 412\nTest Name: Growth 30C,Date: 13/03/2024,Time: 10:01:11\n"
        "Absorbance,Absorbance values are displayed as OD\n\n"
        ",Raw Data (600),Raw Data (600),Raw Data (600)\nContent,Sample X1,Sample X2,Blank B\n"
        "Time [min],A01,A02,H12"
    )
    return Saved(
        "clariostar.csv", lines(head, rows_of("{:.0f},{:.3f},{:.3f},{:.3f}", 10 * T, one, two, blank)),
        "Time", ("A01", "A02", "H12"), wells=True, unit="min", first=(0.0, round(one[0], 3)),
    )  # fmt: skip


def tecan() -> Saved:
    """A row for each well, a column for each cycle."""
    wells = {"A1": growth(), "A2": growth(seed=1), "B1": growth(seed=2)}
    head = "Application: Tecan i-control\nDevice: infinite 200Pro\nDate:\t13.03.2024\nMode\tAbsorbance\n"
    table = {"Cycle Nr.": [str(i + 1) for i in T], "Time [s]": [f"{600.2 * i:.1f}" for i in T]}
    table |= {"Temp. [°C]": [f"{37 + 0.1 * (i % 2):.1f}" for i in T]}
    table |= {well: [f"{v:.4f}" for v in values] for well, values in wells.items()}
    body = ["\t".join([name, *cells]) for name, cells in table.items()]
    return Saved(
        "tecan.txt", lines(head + "\n", body, "\n\nEnd Time:\t13.03.2024 16:12:01\n"), "Time",
        ("A1", "A2", "B1"), wells=True, unit="s", first=(0.0, round(wells["A1"][0], 4)),
    )  # fmt: skip


def cell_counter() -> Saved:
    cells = growth(n=24, start=1100, most=20000, rate=0.3)
    stamps = dates("%d.%m.%Y %H:%M", minutes=120, n=24)
    numbers = [f"{round(v):,}".replace(",", ".") for v in cells]
    body = [f"{day};{number}" for day, number in zip(stamps, numbers, strict=True)]
    return Saved(
        "cell_counter.csv", lines("Datum;Zellen pro ml", body), "Datum", ("Zellen pro ml",), unit="h",
        first=(0.0, float(round(cells[0]))), decimal=",",
    )  # fmt: skip


# Oscilloscopes


def tektronix() -> Saved:
    said = [
        ("Record Length", f"{N:e}"), ("Sample Interval", "4.000000e-06"), ("Trigger Point", "1.0e+01"),
        ("", ""), ("Source", "CH1"), ("Vertical Units", "V"), ("Vertical Scale", "5.0e-01"),
        ("Vertical Offset", "0.0e+00"), ("Horizontal Units", "s"), ("Horizontal Scale", "1.0e-04"),
        ("Pt Fmt", "Y"), ("Yzero", "0.0e+00"), ("Probe Atten", "1.0e+01"), ("Model Number", "TDS2014"),
    ]  # fmt: skip
    said += [("", "")] * (N - len(said))
    u = ringing()
    body = [f"{a},{b},,{4e-6 * i - 4e-5:.12f},{v:10.5f}," for (a, b), i, v in zip(said, T, u, strict=True)]
    return Saved(
        "F0001CH1.CSV", lines("", body, end="\r\n"), "column 4", ("column 5",), first=(-4e-5, round(u[0], 5))
    )


def rigol() -> Saved:
    u = ringing(size=2.0)
    body = rows_of("{:d},{:.2e},,", T, u)
    head = "X,CH1,Start,Increment,\nSequence,Volt,-3.00e-04,1.00e-05"
    return Saved(
        "rigol.csv", lines(head, [f"{row}," for row in body]), "X", ("CH1",),
        first=(0.0, float(f"{u[0]:.2e}")),
    )  # fmt: skip


def keysight() -> Saved:
    power, u = heated(low=0.0, high=5.0, start=0.0)
    noisy = power + 0.01 * np.random.default_rng(1).standard_normal(N)
    body = rows_of("{:.6E},{:+.5E},{:+.5E}", 1e-3 * T - 0.01, noisy, u)
    return Saved(
        "keysight.csv", lines("x-axis,1,2\nsecond,Volt,Volt", body), "x-axis", ("2",), inputs=("1",),
        unit="second", first=(-0.01, float(f"{u[0]:.5E}")),
    )  # fmt: skip


def lecroy() -> Saved:
    u = ringing(decay=0.02)
    head = (
        "LECROYWS452,1023,Waveform\nSegments,1,SegmentSize,36\nSegment,TrigTime,TimeSinceSegment1\n"
        "#1,13-Mar-2024 12:11:10,0\nTime,Ampl"
    )
    return Saved(
        "lecroy.txt", lines(head, rows_of("{:.5e},{:.6g}", 2e-6 * T - 1e-5, u)), "Time", ("Ampl",),
        first=(-1e-5, float(f"{u[0]:.6g}")),
    )  # fmt: skip


def picoscope() -> Saved:
    one, two = ringing(), ringing(phase=1.2, size=140)
    head = "Time,Channel A,Channel B\n(ms),(V),(mV)\n"
    return Saved(
        "picoscope.csv", lines(head + "\n", rows_of("{:.8f},{:.8f},{:.8f}", 0.05 * T, one, two)), "Time",
        ("Channel A", "Channel B"), unit="ms", first=(0.0, round(one[0], 8), round(two[0], 8)),
    )  # fmt: skip


# Data loggers


def hobo() -> Saved:
    temp, damp = 20 + ringing(rate=0.2), 45 + 6 * ringing(rate=0.2, phase=2)
    head = (
        '"Plot Title: 10234567"\n"#","Date Time, GMT+01:00","Temp, °C (LGR S/N: 10234567)",'
        '"RH, % (LGR S/N: 10234567)","Host Connected","End Of File"'
    )
    body = rows_of("{:d},{},{:.3f},{:.2f},,", T + 1, dates("%m/%d/%y %I:%M:%S %p"), temp, damp)
    body.append(f"{N + 1},{dates('%m/%d/%y %I:%M:%S %p', n=N + 1)[-1]},,,Logged,Logged")
    return Saved(
        "hobo.csv", lines(head, body, encoding="utf-8-sig"), "Date Time, GMT+01:00",
        ("Temp, °C", "RH, %"), unit="h", first=(0.0, round(temp[0], 3), round(damp[0], 2)),
    )  # fmt: skip


def campbell() -> Saved:
    power, temp = heated()
    head = (
        '"TOA5","CR1000","CR1000","12345","CR1000.Std.28","CPU:tank.CR1","1234","Table1"\n'
        '"TIMESTAMP","RECORD","Tank_TC_Avg","Heater_W_Avg"\n"TS","RN","Deg C","W"\n"","","Avg","Avg"'
    )
    body = rows_of('"{}",{:d},{:.3f},{:.1f}', dates("%Y-%m-%d %H:%M:%S", minutes=1), T + 100, temp, power)
    body[9] = body[9].split(",")[0] + ',109,"NAN",60.0'
    return Saved(
        "campbell.dat", lines(head, body, end="\r\n"), "TIMESTAMP", ("Tank_TC_Avg",),
        inputs=("Heater_W_Avg",), unit="min", first=(0.0, round(temp[0], 3)),
    )  # fmt: skip


def benchlink() -> Saved:
    one, two = 20 + 0.1 * decay(), 22 + 0.05 * decay(rate=0.05)
    stamps = dates("%m/%d/%Y %H:%M:%S:000", minutes=0.5)
    body = rows_of("{:d},{},{:.4f},0,{:.4f},0", T + 1, stamps, one, two)
    head = (
        "Name:,Cooling,,,,\nOwner:,Lab,,,,\nComments:,,,,,\n\nScan,Time,101 (C),Alarm 101,102 (C),Alarm 102"
    )
    return Saved(
        "benchlink.csv", lines(head, body, encoding="utf-16"), "Time", ("101", "102"), unit="min",
        first=(0.0, round(one[0], 4), round(two[0], 4)),
    )  # fmt: skip


def graphtec() -> Saved:
    one, two = 25 + 0.1 * decay(), 25 + 0.2 * decay(rate=0.06)
    head = (
        "Vendor,GRAPHTEC Corporation\nModel,GL840\nVersion,Ver1.20\nSampling interval,1s\n"
        f"Total data points,{N}\nStart time,2024/03/13,10:00:00\n\nCH,Signal name,Input,Range\n"
        "CH1,inner,TEMP,TC_K\nCH2,outer,TEMP,TC_K\n\nNumber,Date&Time,ms,CH1,CH2,Alarm\nNO.,Time,,degC,degC,"
    )
    stamps = dates("%Y/%m/%d %H:%M:%S", minutes=1 / 60)
    body = rows_of("{:d},{},0,{:+.1f},{:+.1f},LLLL", T + 1, stamps, one, two)
    return Saved(
        "graphtec.csv", lines(head, body), "Date&Time", ("CH1", "CH2"), unit="s",
        first=(0.0, round(one[0], 1), round(two[0], 1)),
    )  # fmt: skip


def logger_german() -> Saved:
    temp, damp = 21 + 2 * ringing(rate=0.15), 48 + 5 * ringing(rate=0.15, phase=2)
    stamps = [stamp.split() for stamp in dates("%d.%m.%Y %H:%M:%S", start="2024-03-13 20:00:00", minutes=15)]
    body = [
        f"{i + 1};{day};{clock};" + f"{a:.1f};{b:.1f}".replace(".", ",")
        for i, (day, clock), a, b in zip(T, stamps, temp, damp, strict=True)
    ]
    head = "Nr.;Datum;Uhrzeit;Temperatur [°C];Luftfeuchte [%rF]"
    return Saved(
        "logger_german.csv", lines(head, body, encoding="latin-1"), "Datum",
        ("Temperatur", "Luftfeuchte"), unit="h", decimal=",",
        first=(0.0, round(temp[0], 1), round(damp[0], 1)),
    )  # fmt: skip


def easylog() -> Saved:
    temp = 4 + 0.2 * decay()
    stamps = dates("%d/%m/%Y %H:%M:%S", minutes=5)
    body = rows_of("{:d},{},{:.1f},30.0", T + 1, stamps, temp)
    body[0] += ",010004567"
    head = "Fridge 2,Time,Celsius(°C),High Alarm,Serial Number"
    return Saved(
        "easylog.txt", lines(head, body, encoding="latin-1"), "Time", ("Celsius",), unit="min",
        first=(0.0, round(temp[0], 1)),
    )  # fmt: skip


# Testing machines


def instron() -> Saved:
    load, way = heated(low=100, high=800, start=0.0)
    head = '"Creep test","Specimen 4"\n"Rate","0.5"\n\n"Time","Extension","Load"\n"(s)","(mm)","(N)"'
    body = rows_of('"{:.3f}","{:.5f}","{:.2f}"', 2.0 * T, 0.01 * way, load)
    return Saved(
        "instron.csv", lines(head, body, end="\r\n"), "Time", ("Extension",), inputs=("Load",), unit="s",
        first=(0.0, round(0.01 * way[0], 5)),
    )  # fmt: skip


def zwick() -> Saved:
    force, way = heated(low=5, high=50, start=0.0)
    force = force + 0.2 * np.sin(T)
    body = rows_of("{:.2f};{:.3f};{:.5f}", 0.5 * T, force, 0.001 * way, comma=True)
    head = "Probe 3\nPrüfer: Lang\n\nPrüfzeit;Standardkraft;Verformung\ns;N;mm"
    return Saved(
        "zwick.TRA", lines(head, body, encoding="latin-1"), "Prüfzeit", ("Verformung",),
        inputs=("Standardkraft",), unit="s", first=(0.0, round(0.001 * way[0], 5)), decimal=",",
    )  # fmt: skip


def mts() -> Saved:
    force = 3 * np.sin(0.9 * T) + 0.5 * np.sin(2.3 * T)
    way = 0.2 * np.cos(0.9 * T) + 0.02 * np.cos(2.3 * T)
    head = (
        "MTS793|MPT|ENU|1|2|.|/|:|1|0|0|A\n\nData Header:\tTime:\t0.1\tSec\t3/13/2024 10:01:02 AM\n"
        "Data Acquisition:\tTimed Data\n\nTime\tAxial Displacement\tAxial Force\nSec\tmm\tkN"
    )
    return Saved(
        "mts.dat", lines(head, rows_of("{:.5f}\t{:.6f}\t{:.6f}", 0.05 * T, way, force)), "Time",
        ("Axial Displacement",), inputs=("Axial Force",), unit="Sec", first=(0.0, round(way[0], 6)),
    )  # fmt: skip


# Spreadsheets


def reactor() -> Saved:
    coolant, temp = heated(low=290, high=310, start=330)
    conc = 0.5 + 0.4 * np.exp(-0.1 * T) + 0.05 * np.sin(0.3 * T)
    rows: list[list[object]] = [["Reactor, run 3"], [], ["Time [min]", "Tc", "cA", "T [K]"]]
    rows += [
        [0.5 * int(i), float(a), float(b), float(c)]
        for i, a, b, c in zip(T, coolant, conc, temp, strict=True)
    ]
    notes = [["Protocol"], ["pump on at", 3], ["calibrated", "yes"]]
    return Saved(
        "reactor.xlsx", workbook({"Notes": notes, "Run 3": rows}), "Time", ("cA", "T"), inputs=("Tc",),
        unit="min", first=(0.0, float(conc[0]), float(temp[0])),
    )  # fmt: skip


def cooling_xlsx() -> Saved:
    temp = 20 + decay(rate=0.05)
    rows: list[list[object]] = [
        ["time [min]", "T [°C]"],
        *([int(i), float(v)] for i, v in zip(T, temp, strict=True)),
    ]
    return Saved(
        "cooling.xlsx", workbook({"Tabelle1": rows}), "time", ("T",), unit="min", first=(0.0, float(temp[0]))
    )


def calc_quoted() -> Saved:
    fish = growth(start=300, most=4200, rate=0.22)
    body = [
        f'{i},"' + f"{v:,.2f}".replace(",", "x").replace(".", ",").replace("x", ".") + '"'
        for i, v in zip(T, fish, strict=True)
    ]
    return Saved(
        "calc_quoted.csv", lines('"Tag","Bestand (kg)"', body), "Tag", ("Bestand",),
        first=(0.0, round(fish[0], 2)), decimal=",",
    )  # fmt: skip


def excel_footer() -> Saved:
    way = 12 * ringing()
    body = rows_of("{:.1f};{:.3f}", 0.1 * T, way, comma=True)
    foot = (
        "\nMittelwert;" + f"{way.mean():.3f}\n".replace(".", ",") + "Max;12,000\nausgewertet von K. Lang;\n"
    )
    return Saved(
        "excel_footer.csv",
        lines("Versuch 12;;\nZeit (s);Weg (mm)", body, foot, end="\r\n", encoding="cp1252"), "Zeit",
        ("Weg",), unit="s", first=(0.0, round(way[0], 3)), decimal=",",
    )  # fmt: skip


def us_thousands() -> Saved:
    users = growth(start=900, most=54000)
    body = [
        f'{day},"{round(v):,}"' if v >= 999.5 else f"{day},{round(v)}"
        for day, v in zip(dates("%m/%d/%Y", minutes=1440), users, strict=True)
    ]
    return Saved(
        "us_thousands.csv", lines("Date,Active users", body), "Date", ("Active users",), unit="d",
        first=(0.0, float(round(users[0]))),
    )  # fmt: skip


def french() -> Saved:
    power, temp = heated(high=100)
    body = rows_of("{:d};{:.2f};{:.0f}", T, temp, power, comma=True)
    return Saved(
        "french.csv", lines("Temps (min);Température (°C);Chauffage (%)", body, encoding="latin-1"), "Temps",
        ("Température",), inputs=("Chauffage",), unit="min", first=(0.0, round(temp[0], 2)), decimal=",",
    )  # fmt: skip


# R


def r_write_csv() -> Saved:
    conc = decay(size=12)
    body = [f'"{i + 1}",{0.5 * i:g},{v:.3f}' for i, v in zip(T, conc, strict=True)]
    body[4] = '"5",2,NA'
    return Saved(
        "r_write_csv.csv", lines('"","Time","conc"', body), "Time", ("conc",), first=(0.0, round(conc[0], 3))
    )


def r_write_table() -> Saved:
    prey, predator = hunted()
    body = [f'"{i + 1}" {0.5 * i:g} {a:.6g} {b:.6g}' for i, a, b in zip(T, prey, predator, strict=True)]
    return Saved(
        "r_write_table.txt", lines('"time" "prey" "predator"', body), "time", ("prey", "predator"),
        first=(0.0, float(f"{prey[0]:.6g}"), float(f"{predator[0]:.6g}")),
    )  # fmt: skip


def r_subjects() -> Saved:
    body, row = [], 0
    for subject, weight in enumerate((79.6, 72.4, 70.5, 54.6), 1):
        for i, hour in enumerate((0, 0.25, 0.57, 1.12, 2.02, 3.82, 5.1, 7.03, 9.05, 12.12)):
            row += 1
            conc = 12 * (np.exp(-0.09 * hour) - np.exp(-1.5 * hour)) * 70 / weight + 0.01 * i
            body.append(f'"{row}","{subject}",{weight},{320 / weight:.3f},{hour},{conc:.2f}')
    return Saved(
        "r_subjects.csv", lines('"","Subject","Wt","Dose","Time","conc"', body), "Time", ("conc",),
        run="Subject", first=(0.0, 0.0),
    )  # fmt: skip


def r_desolve() -> Saved:
    s, i = np.exp(-0.05 * T) * 900, growth(start=1, most=90)
    body = rows_of("{:d},{:.4f},{:.4f},{:.4f}", T, s, i, 1000 - s - i)
    return Saved(
        "r_desolve.csv", lines("time,S,I,R", body), "time", ("S", "I", "R"),
        first=(0.0, round(s[0], 4), round(i[0], 4), round(1000 - s[0] - i[0], 4)),
    )  # fmt: skip


# MATLAB


def mat_matrix() -> Saved:
    prey, predator = hunted()
    return Saved(
        "pendulum.mat", matlab(t=0.5 * T.astype(float), y=np.c_[prey, predator]), "t", ("y 1", "y 2"),
        first=(0.0, prey[0], predator[0]),
    )  # fmt: skip


def writematrix() -> Saved:
    one, two = ringing(), ringing(phase=1.5)
    body = rows_of("{:.6g},{:.6g},{:.6g}", 0.1 * T, one, two)
    return Saved(
        "writematrix.csv", lines("", body), "column 1", ("column 2", "column 3"),
        first=(0.0, float(f"{one[0]:.6g}"), float(f"{two[0]:.6g}")),
    )  # fmt: skip


def identification() -> Saved:
    drive, y = heated(low=-1, high=1, start=0.0)
    body = rows_of("{:.3f},{:g},{:.6f}", 0.02 * T, drive, y)
    return Saved(
        "identification.csv", lines("t,u,y", body), "t", ("y",), inputs=("u",), first=(0.0, round(y[0], 6))
    )


# LabVIEW


def labview() -> Saved:
    volt, way = heated(low=0, high=2, start=0.0)
    head = (
        "LabVIEW Measurement\t\nWriter_Version\t2\nReader_Version\t2\nSeparator\tTab\nDecimal_Separator\t,\n"
        "Multi_Headings\tNo\nX_Columns\tOne\nTime_Pref\tRelative\nOperator\tLab\nDate\t2024/03/13\n"
        "Time\t10:01:02,1234567\n***End_of_Header***\t\n\nChannels\t2\t\t\t\n"
        f"Samples\t{N}\t{N}\t\t\nDate\t2024/03/13\t2024/03/13\t\t\nTime\t10:01:02,1\t10:01:02,1\t\t\n"
        "Y_Unit_Label\tVolts\tmm\t\t\nX_Dimension\tTime\tTime\t\t\nX0\t0,0000000000E+0\t0,0000000000E+0\t\t\n"
        "Delta_X\t0,001000\t0,001000\t\t\n***End_of_Header***\t\t\t\t\nX_Value\tVoltage\tPosition\tComment"
    )
    body = rows_of("{:.6f}\t{:.6f}\t{:.6f}\t", 1e-3 * T, volt, 0.1 * way, comma=True)
    return Saved(
        "test_001.lvm", lines(head, body, end="\r\n"), "X_Value", ("Position",), inputs=("Voltage",),
        first=(0.0, round(0.1 * way[0], 6)), decimal=",",
    )  # fmt: skip


def labview_bare() -> Saved:
    u = ringing()
    return Saved(
        "write_to_file.txt", lines("", rows_of("{:.3f}\t{:.3f}", 0.01 * T, u, comma=True), end="\r\n"),
        "column 1", ("column 2",), first=(0.0, round(u[0], 3)), decimal=",",
    )  # fmt: skip


# Arduino


def arduino() -> Saved:
    power, temp = heated(high=255)
    head = "Starting...\nSensor found at 0x28\n\nmillis,temp,heater"
    body = rows_of("{:d},{:.2f},{:.0f}", 1000 * T + 37, temp, power)
    return Saved(
        "arduino.log", lines(head, body, end="\r\n"), "millis", ("temp",), inputs=("heater",), unit="ms",
        first=(37.0, round(temp[0], 2)),
    )  # fmt: skip


def serial_monitor() -> Saved:
    temp = 20 + 0.2 * decay(rate=0.05)
    stamps = [f"10:{15 + i // 12}:{5 * i % 60:02}.{100 + i}" for i in T]
    body = [f"{stamp} -> {v:.2f}" for stamp, v in zip(stamps, temp, strict=True)]
    return Saved(
        "serial_monitor.txt", lines("", body), "column 1", ("column 2",), unit="s",
        first=(0.0, round(temp[0], 2)),
    )  # fmt: skip


# pandas, Kaggle, people


def pandas_index() -> Saved:
    one, two = ringing(), ringing(phase=1.5)
    body = rows_of("{:d},{:.2f},{!r},{!r}", T, 0.1 * T, one.tolist(), two.tolist())
    return Saved(
        "pandas_index.csv", lines(",time,x,y", body), "time", ("x", "y"), first=(0.0, one[0], two[0])
    )


def pandas_dates() -> Saved:
    flow, level = heated(low=0.2, high=1.4, start=2.0)
    stamps = dates("%Y-%m-%d %H:%M:%S+00:00", minutes=60)
    body = rows_of("{},{:.3f},{:.2f}", stamps, level, flow)
    return Saved(
        "pandas_dates.csv", lines("timestamp,level,inflow", body), "timestamp", ("level",),
        inputs=("inflow",), unit="h", first=(0.0, round(level[0], 3)),
    )  # fmt: skip


def kaggle_rain() -> Saved:
    rng = np.random.default_rng(5)
    rain = np.where(rng.random(60) < 0.3, rng.exponential(8, 60), 0.0)
    flow = np.zeros(60) + 2.0
    for i in range(1, 60):
        flow[i] = 0.85 * flow[i - 1] + 0.1 * rain[i - 1] + 0.3
    body = rows_of("{},Aare,{:.1f},{:.3f}", dates("%Y-%m-%d", minutes=1440, n=60), rain, flow)
    return Saved(
        "kaggle_rain.csv", lines("date,station,rain_mm,flow_m3s", body), "date", ("flow_m3s",),
        inputs=("rain_mm",), unit="d", first=(0.0, round(flow[0], 3)),
    )  # fmt: skip


def valve() -> Saved:
    opening, rise = heated(high=80, start=0.0)
    body = rows_of("{:d};{:.0f};{:.2f}", 5 * T, opening, rise)
    return Saved(
        "valve.csv", lines("time_s;valve_opening;temperature_rise_K", body), "time_s",
        ("temperature_rise_K",), inputs=("valve_opening",), unit="s", first=(0.0, round(rise[0], 2)),
    )  # fmt: skip


def fur() -> Saved:
    prey, predator = hunted(n=31, step=1.0)
    body = rows_of("{:d},{:.1f},{:.1f}", np.arange(1900, 1931), prey, predator)
    return Saved(
        "fur.csv", lines("year,hare,lynx", body), "year", ("hare", "lynx"),
        first=(1900.0, round(prey[0], 1), round(predator[0], 1)),
    )  # fmt: skip


# Clinics and laboratories


def nonmem() -> Saved:
    body = []
    for subject, weight in ((1, 70), (2, 82), (3, 64)):
        body.append(f"{subject},0,100,.,1,1,{weight}")
        for hour in (0.5, 1, 2, 4, 6, 8, 12, 24):
            body.append(f"{subject},{hour},.,{5 * np.exp(-0.15 * hour) * 70 / weight:.3f},0,0,{weight}")
    return Saved(
        "nonmem.csv", lines("ID,TIME,AMT,DV,EVID,MDV,WT", body), "TIME", ("DV",), run="ID",
        first=(0.5, float(f"{5 * np.exp(-0.075):.3f}")),
    )  # fmt: skip


def limits() -> Saved:
    conc = decay(size=9, rate=0.18)
    body = [f"{0.5 * i:.1f};" + (f"{v:.2f}" if v > 0.05 else "<0.05") for i, v in zip(T, conc, strict=True)]
    body[7] = "3.5;n.d."
    return Saved(
        "limits.csv", lines("Lab report 4711\nZeit [h];Conc. [mg/l]", body), "Zeit", ("Conc.",), unit="h",
        first=(0.0, round(conc[0], 2)),
    )  # fmt: skip


FILES: tuple[Callable[[], Saved], ...] = (
    reader_padded, biotek, clariostar, tecan, cell_counter, tektronix, rigol, keysight, lecroy, picoscope,
    hobo, campbell, benchlink, graphtec, logger_german, easylog, instron, zwick, mts, reactor, cooling_xlsx,
    calc_quoted, excel_footer, us_thousands, french, r_write_csv, r_write_table, r_subjects, r_desolve,
    mat_matrix, writematrix, identification, labview, labview_bare, arduino, serial_monitor, pandas_index,
    pandas_dates, kaggle_rain, valve, fur, nonmem, limits,
)  # fmt: skip
