"""The entry point: Ctrl-C during the import of the command line exits as it does later."""

try:
    from gode.cli.app import main
except KeyboardInterrupt:
    raise SystemExit(130) from None

__all__ = ["main"]
