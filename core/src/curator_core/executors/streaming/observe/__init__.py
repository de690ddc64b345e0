"""What people see of a run: live figures, the event log and metrics."""
