"""The entry point: Ctrl-C during the import of the command line exits as it does later."""

import atexit
import gc

# What the libraries bring lives until the end: looking through it for garbage takes a tenth of a run.
gc.set_threshold(50_000, 20, 50)
atexit.register(gc.freeze)

try:
    from gode.cli.app import main
except KeyboardInterrupt:
    raise SystemExit(130) from None

__all__ = ["main"]
