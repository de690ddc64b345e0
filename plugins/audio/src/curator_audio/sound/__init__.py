"""The sound of a row: where it is, how it is decoded safely, how it is encoded."""
