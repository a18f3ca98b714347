import numpy as np

import gode
from gode.report.record import discovery_of, record_of
from gode.report.repeat import command, python_call


def test_that_outliers_were_kept_is_recorded_and_repeated(rng):
    t = np.linspace(0.0, 10.0, 60)
    u = 5 / (1 + 9 * np.exp(-t)) + 0.05 * rng.standard_normal(60)
    u[30] += 3.0
    found = gode.fit("u' = r*u*(1 - u/K)", t, u, keep_outliers=True)
    again = discovery_of(record_of(found))
    assert again.prepared.outliers == []
    assert "--keep-outliers" in command(again)
    assert "keep_outliers=True" in python_call(again)
