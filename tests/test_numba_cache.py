import errno
import gc
import importlib.util
import os
import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest

import gode.numba_cache
from gode.numba_cache import PARTS, _private_folder, _stamp_of_parts, cached_njit

HOME = Path(gode.numba_cache.__file__).parent
KERNEL = "def half(x):\n    return x / 2.0\n"
SMALL_FIT = (
    "import numpy as np, gode; t = np.linspace(0.0, 3.0, 9);"
    'print(gode.fit("u\' = C*u + C*u^2", t, 1 / (1 + 3 * np.exp(-t))))'
)


@pytest.fixture
def no_usual_cache(tmp_path, monkeypatch):
    """A kernel whose own folder and whose home cannot be written, even by root; what is temporary can."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "__pycache__").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kernel.py"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    _private_folder.cache_clear()
    spec = importlib.util.spec_from_file_location("kernel", tmp_path / "kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module.half
    _private_folder.cache_clear()


def test_without_a_writable_cache_what_is_compiled_is_kept_in_a_private_temporary_folder(
    no_usual_cache, tmp_path
):
    kernel = cached_njit(no_usual_cache)
    assert kernel(3.0) == 1.5
    (folder,) = (tmp_path / "temporary").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IRWXU
    assert list(folder.rglob("kernel.half*.nbc"))
    again = cached_njit(no_usual_cache)
    assert again(3.0) == 1.5
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_kernel_is_compiled_anew_where_a_file_of_its_parts_changed(tmp_path, monkeypatch):
    (tmp_path / "parted.py").write_text(KERNEL)
    (tmp_path / "part.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(gode.numba_cache, "PARTS", (str(tmp_path / "part.py"),))
    half, hits = importlib.import_module("parted").half, []
    for text in ("", "", "# changed"):
        (tmp_path / "part.py").write_text(text) if text else None
        _stamp_of_parts.cache_clear()
        kernel = cached_njit(half)
        assert kernel(3.0) == 1.5
        hits.append(sum(kernel.stats.cache_hits.values()))
    _stamp_of_parts.cache_clear()
    assert hits == [0, 1, 0]


def test_every_file_from_which_kernels_of_other_files_take_functions_is_a_part():
    texts = {
        path.relative_to(HOME).as_posix(): path.read_text(encoding="utf-8") for path in HOME.rglob("*.py")
    }
    compiled = {
        name: text for name, text in texts.items() if re.search(r"^@?(?:cached|inner)_njit", text, re.M)
    }
    assert len(compiled) > len(PARTS)
    taken = {f"gode.{name[:-3].replace('/', '.')}": name for name in compiled}
    found = {
        taken[module]
        for text in compiled.values()
        for module in re.findall(r"^from (gode\.[\w.]+) import", text, re.M)
        if module in taken
    }
    assert found < {*PARTS}
    assert {*PARTS} - found == {"numba_cache.py", "equation/operators.py"}


UNKNOWN_NUMBA = (
    "import sys; sys.path.insert(0, sys.argv[1]); import numba.core.codegen as c; del c.JITCodeLibrary;"
    "from gode.numba_cache import cached_njit, inner_njit; import unknown;"
    "half = cached_njit(unknown.half); print(inner_njit(unknown.half) and half(3.0), half.stats.cache_path)"
)


def test_a_numba_with_other_insides_compiles_and_caches_by_itself(tmp_path):
    (tmp_path / "unknown.py").write_text(KERNEL)
    command = [sys.executable, "-c", UNKNOWN_NUMBA, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.stdout.startswith("1.5 "), told.stderr
    assert list(tmp_path.rglob("*.nbc"))


WAITING = (
    "import sys; sys.path.insert(0, sys.argv[1]); from gode.numba_cache import cached_njit;"
    "import awaited; half = cached_njit(awaited.half); print('begun', flush=True); half(3.0);"
    "print(sum(half.stats.cache_hits.values()))"
)


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks")
def test_a_process_waits_for_another_that_compiles_the_same_kernel(tmp_path, monkeypatch):
    (tmp_path / "awaited.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    kernel = cached_njit(importlib.import_module("awaited").half)
    signature = (numba.float64,)
    assert kernel._cache.load_overload(signature, kernel.targetctx) is None  # from here on it is claimed
    command = [sys.executable, "-c", WAITING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=1.0)
        assert kernel(3.0) == 1.5
        assert other.communicate(timeout=60)[0] == "1\n"
    assert not list(tmp_path.rglob("*.lock"))


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks")
def test_without_locks_every_process_compiles_for_itself(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "no locks available")

    (tmp_path / "unlocked.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("fcntl.flock", no_locks)
    assert cached_njit(importlib.import_module("unlocked").half)(3.0) == 1.5
    gc.collect()  # a file that was left open would warn


@pytest.mark.parametrize("spoil", ["a file", "open to all", "a link"])
def test_a_temporary_folder_that_is_not_ours_alone_is_not_trusted(no_usual_cache, tmp_path, spoil, caplog):
    folder = tmp_path / "temporary" / f"gode-{os.getuid()}"
    if spoil == "a file":
        folder.write_text("")
    elif spoil == "a link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir()
        folder.chmod(0o777)
    kernel = cached_njit(no_usual_cache)
    assert kernel(3.0) == 1.5
    assert not list(tmp_path.rglob("*.nbc"))
    assert "set NUMBA_CACHE_DIR to a folder that can be" in caplog.text
    assert len(caplog.records) == 1


def test_a_fit_works_without_a_compiler():
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", SMALL_FIT],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout == "u' = u - u^2\n", told.stderr
