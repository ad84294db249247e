"""Run a student's code where it can reach nothing, and bring back what was observed.

Trusted side: ``zygote`` (starts and talks to the confined process), ``walls`` (what surrounds it), ``runner`` (time
budget), ``waiting`` (what of it a busy machine took), ``questions`` (the inputs, ready to send). Confined side:
``confined`` (the warm process and its forks), ``ready`` (the inputs, built), ``huge`` (what makes forks cheap),
``inner`` (the layers that each fork puts around itself: ``landlock``, limits, ``seccomp``), ``cells`` (student code),
``forbid`` (what is no answer), ``sealed`` (how the observer is kept from the observed), ``leftovers`` (what one
submission could leave for the next). Between them: ``frames``. Data: ``layers`` (what is asked for), ``syscalls``
(the system calls that a submission may make), ``bpf`` (the language of the filter that says so).

| layer | stops | missing |
|---|---|---|
| bubblewrap | seeing and changing the machine's files | no grading of others' code |
| namespaces | the network, others' processes, whatever is left running | no grading of others' code |
| uid | what root may do, where the grader is root | does not happen |
| landlock | reading what is not bound, writing elsewhere, starting programs, TCP, signals to others | said |
| seccomp | most of the kernel: namespaces, mounts, tracing, keyrings, sockets, others' priorities | said |
| rlimits | memory, files, descriptors, processes and processor time without end | no grading of others' code |

``landlock`` and ``seccomp`` repeat in the kernel's own terms what the first three already promise, so a machine without
them is still fit; ``doctor`` and each record say what held.
"""
