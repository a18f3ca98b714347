"""Reading tables of measurements: the layout of a file, its cells, and the role of each column."""
