"""The command line: parses and prints, decides nothing."""

try:
    from gode.cli.app import main
except KeyboardInterrupt:  # Ctrl-C while click is imported: nothing has begun
    raise SystemExit(130) from None

__all__ = ["main"]
