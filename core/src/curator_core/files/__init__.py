"""Disks and object stores: listing, opening, atomic output and compression, without knowing what is in a file."""
