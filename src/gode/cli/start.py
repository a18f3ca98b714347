"""The way in: Ctrl-C while the command line is still being imported ends it as it would later on."""

try:
    from gode.cli.app import main
except KeyboardInterrupt:  # nothing has begun
    raise SystemExit(130) from None

__all__ = ["main"]
