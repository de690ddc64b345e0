"""JSON lines: parsed by column where that is safe, record by record where it is not, and written."""
