"""What executors on Ray share: connecting to it, what its machines have, and sending stages to its workers."""
