"""Neural models in stages, whatever the modality: where the files are, how they are loaded, where they run.

Nothing here imports torch or transformers before a stage sets up its model.
"""
