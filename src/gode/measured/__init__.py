"""Measurements from files and tables: which column holds what. Nothing heavy is imported with it."""
