import pytest

from examples_found import found_growth
from gode.errors import FileError
from gode.selection import rank
from gode_bench.jobs import Job
from gode_bench.pools import read_pools, write_pool


def test_a_saved_pool_is_ranked_as_the_discovery_was(tmp_path):
    found = found_growth()
    write_pool(found, Job(study="b1", problem="ID1", method="gode", seed=3), tmp_path / "pools")
    (saved,) = read_pools(tmp_path / "pools")
    assert saved.name == "b1_ID1_3_0.05_normal"
    again = rank(saved.pool, found.settings.selection)
    assert [c.equation.text(6) for c in again.candidates] == [c.equation.text(6) for c in found.candidates]
    assert again.n_ties == len(found.ties)
    assert len(saved.errors) == len(saved.right) == len(found.candidates)


def test_a_folder_without_pools_is_refused(tmp_path):
    with pytest.raises(FileError, match="--pools"):
        read_pools(tmp_path)
