"""How to repeat the fit of a system."""

import shlex
from dataclasses import replace

import numpy as np

from gode.report.repeat import command, python_call

FIT = "prey' = C*prey + C*prey*pred; pred' = C*pred + C*pred*prey"


def test_the_call_names_the_states(predation, masses):
    assert python_call(predation).endswith(
        'd = gode.fit(["prey\' = C*prey + C*prey*pred", "pred\' = C*pred + C*pred*prey"], t, x, '
        "names=['prey', 'pred'])"
    )
    assert python_call(masses).endswith("t, x, names=['x', 'y'], force=force)")


def test_the_command_names_the_columns(predation):
    assert shlex.split(command(predation)) == ["gode", "fit", FIT, "data.csv", "--states", "prey,pred"]
    dataset = replace(predation.prepared.dataset, labels={"t": "year", "prey": "Hare [1000]"})
    renamed = replace(predation, prepared=replace(predation.prepared, dataset=dataset))
    assert shlex.split(command(renamed))[4:] == ["--time", "year", "--states", "prey=Hare,pred"]


def test_known_initial_values_are_by_state(masses):
    (run,) = masses.prepared.dataset.runs
    dataset = replace(masses.prepared.dataset, runs=(replace(run, initial=np.array([1.0, 0.0, 0.0, 0.5])),))
    known = replace(masses, prepared=replace(masses.prepared, dataset=dataset))
    assert "initial=[[1.0, 0.0], [0.0, 0.5]]" in python_call(known)
    assert "--initial 1,0,0,0.5" in command(known)
