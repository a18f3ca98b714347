import os
import stat
import subprocess
import sys
import threading

import pytest

from gode.errors import FileError
from gode.files import make_folder, replacing

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
