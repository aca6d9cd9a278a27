"""One tool over many files, on warm hosts of this machine."""
