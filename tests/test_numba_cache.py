import importlib.util
import os
import stat
import subprocess
import sys
import tempfile

import numba
import pytest

from gode.numba_cache import _private_folder, cached_njit

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
