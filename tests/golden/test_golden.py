"""Results that a change of the code's form must leave as they are, to the last bit on the same machine.

A last bit depends on the processor and on the libraries; elsewhere only the law and the verdict are compared.
`tests/golden_cases.py` holds the calls and writes the results.
"""

import json
from functools import cache

import pytest

from golden_cases import CASES, FILE, machine, result, texts


@cache
def kept() -> dict[str, dict[str, str]]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_every_case_is_kept():
    assert set(kept()) == {"machine", "texts", *CASES}


@pytest.mark.parametrize("name", CASES)
def test_result_is_what_it_was(name: str):
    now = result(name)
    before = dict(kept()[name])
    if kept()["machine"] != {"name": machine()}:
        now.pop("all")
        before.pop("all")
    assert now == before


def test_report_and_programs_are_what_they_were():
    if kept()["machine"] != {"name": machine()}:
        pytest.skip(f"made on another machine: {kept()['machine']['name']}")
    assert texts() == kept()["texts"]
