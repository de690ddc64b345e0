"""The streaming engine: all stages at once, on different tasks, in pools of Ray actors.

Decisions are pure: ``scheduler`` (which work goes where), ``balancer`` (how many workers each step has), ``estimator``
(how long work takes) and ``placement`` (on which node) take events and return actions. ``run_loop`` and ``worker_pool``
carry the actions out on Ray; ``simulator`` carries them out in virtual time.
"""
