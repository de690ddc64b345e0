"""The stage that asks a language model behind an HTTP interface, and its parts."""
