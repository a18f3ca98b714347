import ast
import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import gode
from gode.data.from_arrays import make_dataset
from gode.errors import DataError, FileError, GodeError
from gode.files import make_folder, read_bytes, read_json, read_most, replacing
from gode.fleet.folder import read_lines
from gode.fleet.many import file_task
from gode.fleet.result import Unusable
from gode.grammar import load_grammar
from gode.library import load_library
from gode.model import load_model
from gode.prior import load_corpus
from gode.search.checkpoint import Checkpoint
from gode.tables.dataset import DataOptions
from gode.tables.read import read_table

KILLED = (
    "import os, signal, sys; from pathlib import Path; from gode.files import replacing\n"
    "with replacing(Path(sys.argv[1])) as draft:\n"
    "    draft.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
)


def write(path, text="new"):
    with replacing(path) as draft:
        draft.write_text(text)


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Set the umask for a test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_of_the_umask(tmp_path, umask, mask, expected):
    umask(mask)
    write(tmp_path / "record.json")
    assert permissions(tmp_path / "record.json") == expected


def test_an_existing_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "record.json"
    path.write_text("old")
    path.chmod(0o640)
    write(path)
    assert path.read_text() == "new"
    assert permissions(path) == 0o640


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_stays(tmp_path):
    path = tmp_path / "record.json"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(FileError, match="Permission denied"):
        write(path)
    assert path.read_text() == "old"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_target_is_replaced(tmp_path, there):
    (tmp_path / "deep").mkdir()
    target, link = tmp_path / "deep" / "target", tmp_path / "link"
    link.symlink_to("deep/target")
    if there:
        target.write_text("old")
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert not target.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["deep", "link"]
    assert os.listdir(tmp_path / "deep") == ["target"]


def test_a_pipe_is_written_to(tmp_path):
    pipe, got = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write(pipe, "through the pipe")
    reader.join(timeout=10)
    assert got == ["through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe.csv"]


def test_a_device_is_written_to(tmp_path):
    for name in ("null", "full"):
        (tmp_path / name).symlink_to(f"/dev/{name}")
    write(tmp_path / "null")
    with pytest.raises(FileError, match="No space left on device"):
        write(tmp_path / "full")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_to_in_order_even_where_it_is_a_file(tmp_path, name):
    program = (
        "from pathlib import Path; from gode.files import replacing; print('before')\n"
        f"with replacing(Path('{name}')) as draft: draft.write_text('between\\n')\n"
        "print('after')"
    )
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\nbetween\nafter\n"


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path):
    path = tmp_path / "report.html"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, path], check=False)
        assert len(os.listdir(tmp_path)) == 1
    write(path)
    assert os.listdir(tmp_path) == ["report.html"]


def test_the_draft_of_a_writer_at_work_is_left_alone(tmp_path):
    path = tmp_path / "report.html"
    with replacing(path) as slow:
        slow.write_text("slow")
        write(path, "quick")
        assert path.read_text() == "quick"
    assert path.read_text() == "slow"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    for name in ("a" * 255, "é" * 127, "b" * 100 + "." + "c" * 154):
        write(tmp_path / name)
        assert (tmp_path / name).read_text() == "new"
    with pytest.raises(FileError, match=r"cannot be written \(File name too long\); give it a shorter name"):
        write(tmp_path / ("a" * 256))
    with pytest.raises(FileError, match=r"cannot be made \(File name too long\)"):
        make_folder(tmp_path / ("a" * 256))


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(FileError, match="Is a directory"):
        write(tmp_path)
    assert os.listdir(tmp_path) == []


READERS = {
    "table": read_table,
    "record": gode.load,
    "grammar": load_grammar,
    "laws": load_corpus,
    "library": load_library,
    "model": load_model,
    "file of a fleet": lambda path: told(file_task(path, DataOptions())),
    "lines of a fleet": lambda path: list(read_lines(path, str, "a line")),
    "checkpoint": lambda path: Checkpoint(path, data(), {}),
}


def told(task):
    """Raise what a record that cannot be used says."""
    if isinstance(task.data, Unusable):
        raise DataError(task.data.failure)


def data():
    t = np.linspace(0.0, 1.0, 12)
    return make_dataset(t, np.exp(-t))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "huge", "rights"])
def test_what_is_no_readable_file_is_refused_at_once_by_every_reader(reader, kind, tmp_path):
    if kind == "rights" and os.geteuid() == 0:
        pytest.skip("root may read everything")
    if (reader, kind) == ("lines of a fleet", "huge"):
        pytest.skip("it is read line by line")
    path = tmp_path / "in.json"
    (tmp_path / "in.safetensors").write_bytes(b"")
    if kind == "pipe":
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to("pipe")
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    else:
        path.write_text("t,u\n")
        os.truncate(path, 10**13 if kind == "huge" else 4)  # sparse: it takes no room
        path.chmod(0o644 if kind == "huge" else 0)
    with pytest.raises(GodeError, match=r"in\.json") as caught:
        READERS[reader](path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_an_open_pipe_of_this_process_is_read_up_to_the_limit():
    reader, writer = os.pipe()
    os.write(writer, b"t,u\n0,1\n")
    os.close(writer)
    assert read_bytes(f"/dev/fd/{reader}", 100) == b"t,u\n0,1\n"
    os.close(reader)
    with pytest.raises(FileError, match="holds more than 5 bytes"):
        read_most(io.BytesIO(b"123456"), 5, "it")


def test_an_archive_that_unpacks_to_too_much_is_no_library(tmp_path, monkeypatch):
    monkeypatch.setattr("gode.library.MAX_UNPACKED", 10_000_000)
    np.savez_compressed(tmp_path / "bomb.npz", rules=np.zeros(20_000_000, np.int8))
    with pytest.raises(FileError, match="unpacks to more than 10 MB"):
        load_library(tmp_path / "bomb.npz")


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gode.fleet.folder.MAX_LINE", 1000)
    (tmp_path / "table.jsonl").write_bytes(b"[" * 5000)
    with pytest.raises(FileError, match="line 1: longer than 1000 bytes"):
        list(read_lines(tmp_path / "table.jsonl", str, "a line"))


def test_deep_json_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(FileError, match="is not complete JSON"):
        read_json(tmp_path / "deep.json", 10**6)


OPENING = {"open", "read_text", "read_bytes", "copyfile"}
ALLOWED = {  # what is opened there is written, or comes with the package
    "files.py": "the door itself",
    "numba_cache.py": "a lock beside the compiled code",
    "gode_bench/odebench/systems.py": "comes with the package",
    "gode_bench/worker.py": "the sources of the package, and what the system tells",
    "gode_bench/engine.py": "what the system tells",
    "gode_bench/fleet.py": "what the system tells, and its own results",
    "gode_bench/measured.py": "writes",
    "gode_bench/measured_systems.py": "writes",
    "gode_bench/report.py": "appends a command",
    "gode_bench/results.py": "what studies print",
    "gode_bench/rows.py": "its own results",
    "cli/app.py": "the null device",
    "cli/running.py": "writes",
    "data/example.py": "comes with the package",
    "fleet/folder.py": "writes and appends",
    "fleet/table.py": "comes with the package",
    "grammar/rules.py": "comes with the package",
    "library.py": "writes",
    "model/choices.py": "writes",
    "model/latent.py": "comes with the package",
    "prior/corpus.py": "comes with the package",
    "prior/model.py": "comes with the package",
    "report/html.py": "comes with the package",
    "report/program.py": "comes with the package",
    "search/checkpoint.py": "appends",
    "studio/app.py": "comes with the package",
    "studio/pages.py": "comes with the package",
    "studio/runs.py": "locks and writes",
    "studio/server.py": "locks, and opens the page",
    "templates.py": "comes with the package",
}


def test_files_of_the_user_are_read_by_one_door():
    package, benchmarks = Path(gode.__file__).parent, Path(__file__).parents[1] / "benchmarks"
    found = set()
    for path in (*package.rglob("*.py"), *benchmarks.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func
                ours = isinstance(called, ast.Name) and called.id in ("read_text", "read_bytes")
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if name in OPENING and not ours:
                    home = package if path.is_relative_to(package) else benchmarks
                    found.add(path.relative_to(home).as_posix())
    assert found - set(ALLOWED) == set(), "read it by gode.files"
