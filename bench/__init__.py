"""Measurements: each is a ratio of two things measured in turn in one run, with the absolute figures beside it."""
