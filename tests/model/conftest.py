"""Torch on one thread: the networks of the tests are too small for two, and threads that wait cost time."""

from importlib.util import find_spec

import pytest


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
