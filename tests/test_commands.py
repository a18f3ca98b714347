"""The README's commands, in its order, are what the continuous integration runs and the Makefile knows."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def commands(text: str) -> list[str]:
    """The calls of make, one a line, without what is said beside them."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if re.match(r"make\b", line)]


@pytest.fixture
def promised() -> list[str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^## Try it$.*?^```\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    return commands(block)


def test_integration_begins_with_the_commands_of_the_readme(promised: list[str]):
    run = commands((ROOT / ".ci/run").read_text(encoding="utf-8"))
    assert len(promised) == 2
    assert run[:2] == promised


def test_integration_ends_at_the_first_command_that_fails():
    first, *rest = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert first == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in rest
    assert not [line for line in rest if "||" in line]


def test_makefile_has_every_target_that_is_called():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        called = {line.split()[1] for line in commands((ROOT / name).read_text(encoding="utf-8"))}
        assert called, name
        assert called <= targets, name


def test_one_rule_installs_for_every_target():
    """Two sets of versions in one environment made `make test` fail after `make demo`."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert len(re.findall(r"pip install|\$\(INSTALL\)", makefile)) == 2  # its definition and its use
