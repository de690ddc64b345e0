"""One run of a plan: state, order, ledger, quarantine, run directory, result."""
