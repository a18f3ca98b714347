"""How kernels are compiled, and where the compiled code is cached.

Numba caches beside the source, or else in the home of the user. Where neither can be written, as in many
containers, the cache is a private folder of the temporary directory; failing that, every process compiles for
itself. With NUMBA_DISABLE_JIT nothing is compiled.
"""

import logging
import os
import stat
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys

logger = logging.getLogger(__name__)
settings: Any = numba.config  # which makes its names when it is loaded


def cached_njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a kernel on its first call, with the arithmetic of NumPy, and keep it for later processes."""
    if function is None:
        return lambda kernel: cached_njit(kernel, **options)
    try:
        return _njit(function, cached=True, **options)
    except RuntimeError:  # numba knows no folder that can be written
        return _elsewhere(function, options)


def inner_njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that only kernels call, without the wrappers that Python needs."""
    return cached_njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def must_compile(kernel: Any) -> bool:
    """Tell whether the next call of a kernel has to wait for the compiler."""
    if settings.DISABLE_JIT or kernel.overloads:
        return False
    folder, module = kernel.stats.cache_path, kernel.__module__.rpartition(".")[2]
    return folder is None or not any(Path(folder).glob(f"{module}.{kernel.__name__}*.nbi"))


class _Cache(FunctionCache):
    """The compiled code of one kernel on disk; it is stale, too, where the table of functions is another."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _stamp_of_functions()
        base = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(self._cache_path, base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, None if nothing was.

        Numba would first import all that compiling needs, which takes longer than to load every kernel; it
        does so in any case before it compiles.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


@lru_cache(maxsize=1)
def _stamp_of_functions() -> tuple[float, int]:
    """Return when the table of functions was changed and its size: every kernel that runs tapes holds it."""
    found = Path(__file__).with_name("equation").joinpath("operators.py").stat()
    return found.st_mtime, found.st_size


def _njit(function: Callable[..., Any], *, cached: bool, **options: Any) -> Any:
    if settings.DISABLE_JIT:
        return np.errstate(all="ignore")(function)  # a division by zero is a value here, as when compiled
    kernel = numba.njit(error_model="numpy", **options)(function)
    if cached:
        kernel._cache = _Cache(function)
    return kernel


def _elsewhere(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Compile with the cache in the temporary directory, or without one."""
    folder = _private_folder()
    if folder is None:
        return _njit(function, cached=False, **options)
    usual = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder)  # read when the kernel is declared, which is here
    try:
        return _njit(function, cached=True, **options)
    except RuntimeError:  # the folder is full, or gone
        return _njit(function, cached=False, **options)
    finally:
        settings.CACHE_DIR = usual


@lru_cache(maxsize=1)
def _private_folder() -> Path | None:
    """Return a folder that only this user can write, for what is loaded from it is run as code."""
    try:
        folder = Path(tempfile.gettempdir()) / f"gode-{os.getuid() if os.name == 'posix' else 'cache'}"
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        if _is_private(folder.lstat()):
            return folder
    except OSError:
        pass
    logger.warning(
        "no folder for compiled code can be written, so every process compiles for a minute; "
        "set NUMBA_CACHE_DIR to a folder that can be"
    )
    return None


def _is_private(found: os.stat_result) -> bool:
    if not stat.S_ISDIR(found.st_mode):
        return False
    others = stat.S_IWGRP | stat.S_IWOTH
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & others)
