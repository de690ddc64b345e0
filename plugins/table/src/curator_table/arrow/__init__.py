"""Arrow IPC files and streams, checked before memory is allocated for their declared sizes."""
