"""What ``benchmarks/text.py`` measures, one part a module, and how its figures are set against each other."""
