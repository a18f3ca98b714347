"""The studio: a page on this machine to drop a file on, watch the search, compare rivals and take away."""
