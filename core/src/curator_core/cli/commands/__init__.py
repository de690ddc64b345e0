"""One module per sub-command, each with ``add_arguments(parser)`` and ``run(args)``."""
