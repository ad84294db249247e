"""A class graded on a Dask cluster: ``grade --scheduler``.

``address`` says where the scheduler is and by which certificates it is known. ``link`` talks to it. ``members`` keeps
the workers that are fit: those on which a mark comes about as it does here (``alike``), inside the same walls. ``run``
hands them the class in chunks, and has the face of ``pool.Class``. ``crew`` is what stands on a worker: the grading
processes of ``worker``, one a thread.

A submission travels as bytes inside our own dataclasses, and so do its record and its pages on their way back; this
machine alone writes. Scheduler and workers are trusted: Dask runs code for whoever reaches them.
"""
