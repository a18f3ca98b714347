"""JSON files as strangers may have written them: read within bounds."""

import json
from pathlib import Path

import numpy as np

from gode.errors import FileError
from gode.files import read_bytes

MAX_BYTES = 500_000_000  # twice the size of a million rows
MAX_VALUES = 20_000_000  # a million rows have 12 million; each takes 32 bytes while it is read
MAX_LISTS = 1_000_000
MAX_DEPTH = 50
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def read_json(path: Path) -> object:
    """Return what a file of JSON holds.

    Raises:
        FileError: if it cannot be read, is no JSON, or would need much memory.
    """
    smaller = "it is no record of gode; name a record.json"
    content = read_bytes(path, MAX_BYTES, what="a record.json", smaller=smaller)
    _check_size(content, path)
    try:
        return json.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"{path} is not text: it is no record of gode; name a record.json") from None
    except (ValueError, RecursionError):
        raise FileError(f"{path} is not complete JSON: it is no record of gode, or damaged") from None


def _check_size(content: bytes, path: Path) -> None:
    """Refuse files that would need much memory, by their size and brackets, before they are parsed."""
    brackets = content.translate(None, NO_BRACKETS)
    found = {
        f"holds more than {MAX_VALUES} values": content.count(b",") > MAX_VALUES,
        f"holds more than {MAX_LISTS} lists": len(brackets) > 2 * MAX_LISTS,
    }
    if not any(found.values()):
        steps = np.frombuffer(brackets.translate(bytes.maketrans(b"[{]}", b"\1\1\377\377")), np.int8)
        depth = int(np.cumsum(steps, dtype=np.int64).max(initial=0))
        found[f"is nested more than {MAX_DEPTH} deep"] = depth > MAX_DEPTH
    for what, is_so in found.items():
        if is_so:
            raise FileError(f"{path} {what}: it is no record of gode; name a record.json")
