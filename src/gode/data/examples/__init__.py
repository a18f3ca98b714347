"""Example measurements, made by us: synthetic, noisy, with the truth in the first line of each file."""
