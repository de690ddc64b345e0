"""Compiled passes over the UTF-8 bytes of documents. Everything here is loaded late: it imports numba."""
