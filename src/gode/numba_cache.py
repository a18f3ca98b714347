"""How kernels are compiled, and where the compiled code is cached.

Numba caches beside the source, or else in the home of the user. Where neither can be written, as in many
containers, the cache is a private folder of the temporary directory; failing that, every process compiles for
itself. With NUMBA_DISABLE_JIT nothing is compiled.
"""

import logging
import os
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

try:
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.runtime.nrt import rtsys
except ImportError:  # a numba with other insides: it compiles and caches in its own way, which takes longer
    FunctionCache = IndexDataCacheFile = JITCodeLibrary = Compiler = object  # type: ignore[assignment,misc]
    rtsys = None  # type: ignore[assignment]

try:
    import fcntl
except ImportError:  # Windows: each process compiles for itself
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)
PATIENCE = 120.0  # seconds for which a process waits for another that compiles the same, set by hand
# Files that become a part of kernels in other files, of which numba looks at their own file alone.
PARTS = (
    "numba_cache.py",
    "equation/operators.py",
    "equation/interpreter.py",
    "solve/doses.py",
    "solve/past.py",
    "solve/explicit.py",
    "solve/radau.py",
)
settings: Any = numba.config  # which makes its names when it is loaded


def cached_njit(
    function: Callable[..., Any] | None = None, *, allocates: bool = False, **options: Any
) -> Any:
    """Compile a kernel on its first call, with the arithmetic of NumPy, and keep it for later processes.

    Args:
        allocates: whether it makes arrays. Where none are made, nobody has to count who uses them; counting
            would be half of the code, and so of the time to compile it.
    """
    if function is None:
        return lambda kernel: cached_njit(kernel, allocates=allocates, **options)
    options |= _counting(allocates)
    try:
        return _njit(function, cached=True, **options)
    except RuntimeError:  # numba knows no folder that can be written
        return _elsewhere(function, options)


def inner_njit(function: Callable[..., Any] | None = None, *, allocates: bool = False, **options: Any) -> Any:
    """Compile a function that only kernels call, as a part of each of them; it is not kept by itself."""
    if function is None:
        return lambda kernel: inner_njit(kernel, allocates=allocates, **options)
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_counting(allocates)}
    if rtsys is not None:
        options["pipeline_class"] = _PartCompiler
    return _njit(function, cached=False, **options)


def _counting(allocates: bool) -> dict[str, bool]:
    """Return the option that tells whether a function counts who uses its arrays, where numba is known."""
    return {} if rtsys is None else {"_nrt": allocates}


def must_compile(kernel: Any) -> bool:
    """Tell whether the next call of a kernel has to wait for the compiler."""
    if settings.DISABLE_JIT or kernel.overloads:
        return False
    folder, module = kernel.stats.cache_path, kernel.__module__.rpartition(".")[2]
    return folder is None or not any(Path(folder).glob(f"{module}.{kernel.__name__}*.nbi"))


class _Part(JITCodeLibrary):
    """Code that is linked into that of kernels, where it is optimised and becomes machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    """What compiles a function that only kernels call; half of the time would go into code of its own."""

    def compile_extra(self, function: Any) -> Any:
        state = self.state
        state.library = _Part(state.targetctx.codegen(), function.__qualname__)
        state.flags.no_compile = True
        found = super().compile_extra(function)
        name = object().__format__  # stands for the function among all that are known; any other would do
        state.targetctx.insert_user_function(name, found.fndesc, [found.library])
        return found._replace(entry_point=name)


class _Cache(FunctionCache):
    """The compiled code of one kernel on disk; it is stale, too, where a file of its parts is another.

    Processes that need a kernel at the same time wait for the first of them to compile it.
    """

    _claim: Any = None

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _stamp_of_parts()
        base = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(self._cache_path, base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, None if nothing was.

        Numba would first import all that compiling needs, which takes longer than to load every kernel; it
        does so in any case before it compiles.
        """
        rtsys.initialize(target_context)
        found = self._found(sig, target_context)
        if found is None and self._wait():
            found = self._found(sig, target_context)
            if found is not None:
                self._end_claim()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, for which others may wait."""
        try:
            super().save_overload(sig, data)
        finally:
            self._end_claim()

    def _found(self, sig: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _wait(self) -> bool:
        """Claim the kernel, once no other process does; return whether it may be there by now."""
        if fcntl is None or self._claim is not None:
            return False
        began = time.monotonic()
        with suppress(OSError), ExitStack() as opened:  # there may be no folder yet, or one without locks
            path = Path(self._cache_path, f"{self._impl.filename_base}.lock")
            claim = opened.enter_context(path.open("wb"))
            while time.monotonic() - began <= PATIENCE:
                try:
                    fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._claim = claim
                    opened.pop_all()
                    return True
                except BlockingIOError:
                    time.sleep(0.05)
        return False

    def _end_claim(self) -> None:
        if self._claim is not None:
            Path(self._claim.name).unlink(missing_ok=True)
            self._claim.close()
            self._claim = None


@lru_cache(maxsize=1)
def _stamp_of_parts() -> tuple[tuple[float, int], ...]:
    """Return when each file that becomes a part of kernels was changed, and its size."""
    found = [(Path(__file__).parent / part).stat() for part in PARTS]
    return tuple([(each.st_mtime, each.st_size) for each in found])


def _njit(function: Callable[..., Any], *, cached: bool, **options: Any) -> Any:
    if settings.DISABLE_JIT:
        return np.errstate(all="ignore")(function)  # a division by zero is a value here, as when compiled
    kernel = numba.njit(error_model="numpy", **options)(function)
    if cached and rtsys is None:
        kernel.enable_caching()
    elif cached:
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
