"""The score of a job and the truth behind it, for the paper's problems and for systems alike."""

import re

from gode.equation import Law
from gode.equation.system import parse_system_values
from gode.equation.tree import STATE
from gode_bench.jobs import Job
from gode_bench.odebench.score import failed_system, read_equations, score_system
from gode_bench.odebench.systems import FILES, system
from gode_bench.problems import problem
from gode_bench.score import Score, all_free, failed, score


def score_job(job: Job, text: str | None, failure: str = "") -> Score:
    """Return the score of what a method found; `failure` says why it found nothing."""
    if job.study in FILES:
        whole = system(job.problem, job.study)
        return failed_system(whole, failure) if text is None else score_system(whole, text)
    one = problem(job.problem)
    return failed(one, failure) if text is None else score(one, text)


def true_skeletons(job: Job) -> tuple[str, ...]:
    """Return the true equations with a free constant C for every coefficient, in the names of the states."""
    if job.study not in FILES:
        return (str(all_free(problem(job.problem).equation.skeleton)),)
    whole = system(job.problem, job.study)
    found = [str(all_free(e.skeleton)) for e in read_equations("\n".join(whole.truths), whole.states)]
    if len(found) == 1:
        return (found[0],)
    return tuple(re.sub(rf"\b{STATE}\b", name, text) for text, name in zip(found, whole.states, strict=True))


def true_law(job: Job) -> Law:
    """Return the true equations with their numbers."""
    if job.study not in FILES:
        return problem(job.problem).equation
    whole = system(job.problem, job.study)
    if len(whole.states) == 1:
        return read_equations(whole.truths[0], whole.states)[0]
    return parse_system_values(whole.truths, states=whole.states)
