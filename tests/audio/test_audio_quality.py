"""audio.quality: noise is heard, scores are those of the networks, and odd recordings are survived."""

import numpy as np
import pytest

from curator_audio import Quality
from curator_audio.speech.dnsmos import Dnsmos, log_mel
from curator_core.values.errors import ConfigError
from tests.support.recordings import batch_of, encoded, run, silence

QUIET, LOUD = (encoded(silence(2.0, level=level)) for level in (0.001, 0.1))
NAMES = ("mos_signal", "mos_background", "mos_overall", "mos_p808")


def test_noise_lowers_the_score():
    _, rows = run(Quality(), batch_of(QUIET, LOUD, None, encoded(np.zeros((0, 1)))))
    quiet, loud, *nothing = [[row[name] for name in NAMES] for row in rows]
    assert all(1 <= score <= 5 for score in quiet + loud)
    assert quiet[1] > loud[1] + 1  # the background
    assert nothing == [[None] * 4] * 2


def test_what_is_below_a_score_is_dropped():
    result, rows = run(Quality(min_background=2.0), batch_of(QUIET, LOUD, None, b"junk"))
    assert [row["_source"] for row in rows] == ["0.bin"]
    assert result.stats["audio.quality"].dropped == {"low_mos_background": 1, "missing_value": 1}
    assert [record.source for record in result.quarantined] == ["3.bin"]
    with pytest.raises(ConfigError, match="hop_s"):
        Quality(hop_s=0)


def test_long_recordings_are_rated_every_hop():
    talk = np.concatenate([silence(10.0, level=0.001), silence(10.0, level=0.1)])
    networks = Dnsmos(stage="audio.quality")
    both, first = (networks.score(talk[:end, 0], hop_s=10.0) for end in (None, 160_000))
    assert both.mos_background < first.mos_background - 0.5


def test_the_bands_that_the_older_network_hears():
    rate = 16_000
    bands = log_mel(np.sin(2 * np.pi * 1000 * np.arange(rate) / rate).astype(np.float32))
    assert bands.shape == (100, 120)
    assert (bands.min(), bands.max()) == (-1.0, 1.0)  # 80 dB below the loudest, and the loudest
    loudest = set(np.argmax(bands[5:-5], axis=1))
    assert loudest == {39}  # the 40th of 120 bands is the one around 1 kHz
