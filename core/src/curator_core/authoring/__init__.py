"""The bases that readers and writers of every modality are written with."""
