"""What stands in several files about a release is the same everywhere."""

import re
import tomllib
from pathlib import Path

import gode

ROOT = Path(__file__).parents[1]
PROJECT_FILE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PROJECT_FILE["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # without the windows of a desktop


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def only(pattern: str, name: str) -> str:
    (found,) = re.findall(pattern, read(name), re.M)
    return str(found)


def test_version_is_the_same_everywhere():
    assert only(r'^version: "(.+)"$', "CITATION.cff") == gode.__version__
    assert only(r"^  version: (\d.+)$", "packaging/conda/recipe.yaml") == gode.__version__
    assert only(r'^version = "(.+)"$', "benchmarks/pyproject.toml") == gode.__version__


def test_changelog_begins_with_this_version_and_the_date_of_the_citation():
    version, date = re.findall(r"^## \[(.+?)\] - (\S+)$", read("CHANGELOG.md"), re.M)[0]
    assert version == gode.__version__
    assert date == only(r'^date-released: "(.+)"$', "CITATION.cff")


def test_conda_recipe_asks_for_what_the_package_asks_for():
    run = re.findall(r"^  run:\n((?:    - .+\n)+)", read("packaging/conda/recipe.yaml"), re.M)
    needed = set(re.findall(r"- (.+)", run[0]))
    asked = [re.fullmatch(r"([\w-]+)(>=[\d.]+)", each).groups() for each in PROJECT["dependencies"]]
    assert needed == {
        f"python {PROJECT['requires-python']}",
        *(f"{CONDA_NAMES.get(name, name)} {bound}" for name, bound in asked),
    }


def test_container_has_a_python_and_extras_that_the_package_knows():
    pythons = {only.rpartition(" ")[2] for only in PROJECT["classifiers"] if " :: 3." in only}
    assert set(re.findall(r"^FROM python:([\d.]+)-slim", read("Dockerfile"), re.M)) <= pythons
    extras = only(r"wheel\[(.+)\]", "Dockerfile").split(",")
    assert {*extras} <= {*PROJECT["optional-dependencies"]}


def test_every_python_that_is_named_is_tested():
    listed = re.findall(r"python: \[(.+)\]", read(".github/workflows/tests.yml"))[0]
    tested = set(re.findall(r"[\d.]+", listed))
    named = {each.rpartition(" ")[2] for each in PROJECT["classifiers"] if " :: 3." in each}
    assert tested == named


def test_the_source_distribution_holds_what_its_own_tests_read():
    included = PROJECT_FILE["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    read_by_tests = [".github", "Dockerfile", "docs", "examples", "fuzz", "packaging", "paper", "scripts"]
    assert not [name for name in read_by_tests if f"/{name}" not in included]
