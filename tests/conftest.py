"""The few fixtures all tests share."""

import shutil
from collections.abc import Iterator

import numpy as np
import pytest

from problems import BY_NAME, Trajectory

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.hookimpl(tryfirst=True)  # before fixtures are made
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("torch"):
        pytest.importorskip("torch", reason="torch is not installed; `make test-torch` runs this")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def oscillator() -> Trajectory:
    """cos 2t, which satisfies u'' = -4u, at 200 times in [0, 10]."""
    return BY_NAME["undamped oscillator"].trajectory()


@pytest.fixture
def logistic() -> Trajectory:
    """The solution of u' = u(1 - u) from u(0) = 0.1, at 200 times in [0, 8]."""
    return BY_NAME["logistic"].trajectory()


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
