"""Whether curator's filters decide as those of datatrove and NeMo Curator do: see ``benchmarks/text_agreement.py``."""
