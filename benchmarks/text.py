"""Run the same text filters with curator, datatrove, NeMo Curator and data-juicer on real documents; print ratios.

Documents come from Debian packages and every peer runs in a virtual environment of its own; both are made when first
needed and kept in a cache folder. All take turns in one sitting; progress goes to stderr.

    python benchmarks/text.py [--quick] [--json] [--part kernel,end_to_end] [--peers none|datatrove,nemo,data_juicer]
"""

from text_comparison.command import main

if __name__ == "__main__":
    main(str(__doc__).splitlines()[0])
