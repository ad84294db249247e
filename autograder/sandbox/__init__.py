"""Run a student's code where it can reach nothing, and bring back what was observed.

Trusted side: ``zygote`` (starts and talks to the confined process), ``walls`` (what surrounds it), ``runner`` (time
budget). Confined side: ``confined`` (the warm process and its forks), ``cells`` (student code), ``forbid`` (what is
no answer), ``leftovers`` (what one submission could leave for the next). Between them: ``frames``.
"""
