"""Audio against its peers, and on real recordings."""
