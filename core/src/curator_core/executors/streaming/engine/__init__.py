"""The decisions of a run: events in, actions out, without Ray and without a clock."""
