"""Arrow IPC files and streams, checked before anything is allocated for what they claim."""
