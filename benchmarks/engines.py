"""Run the same pipelines on curator, cosmos-xenna, Ray Data and a hand-written actor loop, and print ratios.

Every peer runs in a virtual environment of its own, which is made when first needed. Engines take turns; progress goes
to stderr. Times start when Ray is up. Cases, engines and figures: ``--list`` and ``benchmarks/engine_comparison``.

    python benchmarks/engines.py [--quick] [--json] [--case a,b] [--engine ours,raw,xenna,ray_data] [--list]
"""

from engine_comparison.command import main

if __name__ == "__main__":
    main(str(__doc__).splitlines()[0])
