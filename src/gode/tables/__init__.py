"""Tables of measurements: how a file is laid out, what its cells hold, which column is what."""
