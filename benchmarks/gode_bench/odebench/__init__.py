"""ODEBench: 63 systems of one to four states, how data are drawn from them, and how an answer is scored."""
