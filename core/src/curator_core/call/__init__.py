"""One call of a stage, the same on every executor: ids, retries, isolation of rows, failures."""
