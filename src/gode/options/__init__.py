"""The options of a discovery: one table (`table`), and what reads and writes its entries."""
