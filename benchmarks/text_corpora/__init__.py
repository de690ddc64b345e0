"""Real documents for ``benchmarks/text.py``, made from Debian packages when first asked for and kept in a cache folder.

The texts are under the licences of their packages (GPL, CC and others): they are fetched, never committed.
"""
