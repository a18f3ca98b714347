"""Imported by the process from which the workers of a fleet are forked: all that they need is loaded once."""

from contextlib import suppress

from gode.fleet.result import begin

with suppress(Exception):  # each worker begins again, in no time, and says what is wrong
    begin()
