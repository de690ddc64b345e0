"""Write plugins for curator: a skeleton to start from, and the checks that every plugin should pass.

The checks are in :mod:`curator_devkit.testing`, the skeleton is in :mod:`curator_devkit.scaffold`; the command
``curator plugin`` offers both. Importing this package imports neither.
"""

__version__ = "0.1.0"
