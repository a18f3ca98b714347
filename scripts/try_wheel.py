"""Build a wheel from this tree and run the demonstration from it, outside the tree.

    python scripts/try_wheel.py     # with this Python, and the oldest and newest of pyproject.toml
    python scripts/try_wheel.py /path/to/python3.13 ...

Each interpreter gets an environment of its own. Those named in pyproject.toml are skipped where they are not
installed; those given must be there.
"""

import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def main(given: list[str]) -> int:
    chosen = {}
    for interpreter in given or [sys.executable, *named()]:
        version = version_of(interpreter)
        if version is None and given:
            print(f"{interpreter} is no Python that runs; give the path of one")
            return 2
        if version is None:
            print(f"{interpreter} is not on this machine: the wheel is not tried with it")
        else:
            chosen.setdefault(version, interpreter)
    with TemporaryDirectory(prefix="gode-wheel-") as folder:
        build(Path(folder))
        (wheel,) = Path(folder).glob("*.whl")
        print(f"The demonstration from {wheel.name} with Python {', '.join(chosen)} ...", flush=True)
        with ThreadPoolExecutor() as pool:  # most of the time goes into compiling, once for each
            tried = [
                pool.submit(try_with, interpreter, wheel, Path(folder) / version)
                for version, interpreter in chosen.items()
            ]
        for each in tried:
            each.result()  # raises what ended it
    print(f"the wheel works with Python {', '.join(chosen)}")
    return 0


def named() -> tuple[str, str]:
    """The oldest and the newest interpreter among the classifiers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    minors = [int(m[1]) for c in project["classifiers"] if (m := re.search(r"Python :: 3\.(\d+)", c))]
    return f"python3.{min(minors)}", f"python3.{max(minors)}"


def version_of(interpreter: str) -> str | None:
    ask = (interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    try:
        done = subprocess.run(ask, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def build(folder: Path) -> None:
    """Write the wheel into `folder`."""
    call([sys.executable, "-m", "venv", folder / "build"], folder)
    call([folder / "build/bin/python", *PIP, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], folder)


def try_with(interpreter: str, wheel: Path, folder: Path) -> None:
    """Install the wheel into a new environment and run the demonstration in an empty folder."""
    work = folder / "work"
    work.mkdir(parents=True)
    call([interpreter, "-m", "venv", folder / "env"], folder)
    call([folder / "env/bin/python", *PIP, "install", "--no-compile", wheel], folder)
    call([folder / "env/bin/gode", "demo"], work)
    missing = [name for name in ("report.html", "record.json") if not (work / "out" / name).is_file()]
    if missing:
        sys.exit(f"the demonstration wrote no {' and no '.join(missing)}")


def call(command: list[str | Path], folder: Path) -> None:
    """Run a command in `folder`, away from the modules of this tree; end with its status if it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    status = subprocess.run(command, cwd=folder, env=clean, check=False).returncode
    if status:
        sys.exit(f"exit status {status} of: {' '.join(map(str, command))}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
