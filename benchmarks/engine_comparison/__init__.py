"""The same pipelines on several streaming engines: see ``benchmarks/engines.py``.

Modules named after an engine are programs that run in that engine's own environment; they share ``workload``,
``cases``, ``measures`` and ``program``, which need nothing but the standard library (and numpy for payloads).
"""
