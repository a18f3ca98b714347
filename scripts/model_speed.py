"""Measure how many skeletons a second the shipped models decode and encode on one core, in batches of 256.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python scripts/model_speed.py [NAME ...]

The best of several passes in seconds of the processor, so that other programs disturb little; beside it the
product of the size that takes most of the time, to compare machines.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is loaded

import sys  # noqa: E402 -- the threads are set first
import time  # noqa: E402

import numpy as np  # noqa: E402

from gode.model import load_model, model_names  # noqa: E402

BATCH, PASSES = 256, 8


def best_of(calls) -> float:
    """Return the seconds of the fastest call."""
    seconds = []
    for call in calls:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main(names: list[str]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((BATCH, 192), (192, 576)))
    for name in names:
        space = load_model(name)
        points = [rng.standard_normal((BATCH, space.dimension)) for _ in range(8)]
        space.decode(points[0])
        decode = best_of([lambda z=z: space.decode(z) for z in points] * PASSES)
        sentences = [space.decode_derivations(z) for z in points]
        encode = best_of([lambda d=d: space.encode_derivations(d) for d in sentences] * PASSES)
        product = best_of([lambda: a @ b] * 50)
        print(
            f"{name:14s} decode {BATCH / decode:5.0f}/s, encode {BATCH / encode:5.0f}/s, "
            f"product {1e6 * product:.0f} us",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or model_names())
