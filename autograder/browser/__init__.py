"""Exercises that are solved in the page: the same judge, in a browser's own Python.

Build side: ``archive`` (what a worker unpacks). Worker side, standard library only: ``course`` (an exercise out of the
archive), ``home`` (an interpreter that is put in order after each run), ``judge`` (source in, record out),
``torch_standin`` (the module ``torch`` of the worker: small tensors that round as PyTorch's do).
"""
