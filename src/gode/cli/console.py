"""Where results and progress are printed."""

from rich.console import Console


def _console(*, stderr: bool) -> Console:
    """Return a console; a terminal that says it has no columns gets eighty."""
    console = Console(highlight=False, stderr=stderr)
    return console if console.width > 0 else Console(highlight=False, stderr=stderr, width=80)


console = _console(stderr=False)
progress_console = _console(stderr=True)
