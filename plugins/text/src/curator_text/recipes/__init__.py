"""Published recipes: which filters, in which order, with which thresholds."""
