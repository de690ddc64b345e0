"""Compare the decisions of curator's text filters with those of datatrove and NeMo Curator on real documents.

Exits with 1 where they agree less than they have to: entirely where the definitions are the same, on 99 % of the
documents of each filter where spaCy's words are imitated. Peers are asked once, in environments of their own.

    python benchmarks/text_agreement.py [--json] [--part datatrove,nemo,code] [--cache DIR]
"""

import sys

from text_parity.command import main

if __name__ == "__main__":
    sys.exit(main(str(__doc__).splitlines()[0]))
