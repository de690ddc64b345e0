"""The front door: pipelines and workflows, made in Python or from files, and run."""
