"""Benchmarks of gode: the problems of the paper and ODEBench, other tools, studies of what gode claims."""
