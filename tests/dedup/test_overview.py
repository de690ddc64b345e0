"""The overview tells what the duplicates look like, in bounded space."""

import json

from curator_dedup import ExactDeduplicationWorkflow, FuzzyDeduplicationWorkflow
from tests.support.known_duplicates import Documents

TEXT = "a sentence that is long enough to have more than one shingle of twenty-four characters"


def test_sizes_most_repeated_and_samples(tmp_path):
    texts = {f"copy{number}": TEXT for number in range(9)} | {"near": f"{TEXT}!", "other": "b" * 50, "twin": "b" * 50}
    documents = Documents(tmp_path, texts).write()
    result = FuzzyDeduplicationWorkflow(**documents.paths(), num_bands=20, minhashes_per_band=3).run()
    overview = json.loads((documents.root / "run" / "cache" / "overview.json").read_text(encoding="utf-8"))
    assert overview["cluster_sizes"] == {"2": 1, "9-16": 1}
    assert overview["most_repeated"][0] == {"id": "copy0", "copies": 10, "text": TEXT}
    assert sum(overview["similarity"]["counts"]) == result.removed == 10
    worst = overview["samples"][0]
    assert (worst["removed"], worst["kept"]) == (f"{TEXT}!", TEXT)
    assert 0.8 <= worst["similarity"] < 1
    assert f"+ {TEXT}" in result.report()


def test_no_duplicates(tmp_path):
    documents = Documents(tmp_path, {"a": "one", "b": "two"}).write(1)
    result = ExactDeduplicationWorkflow(**documents.paths()).run()
    assert (result.removed, result.clusters) == (0, 0)
    assert "0 removed" in result.report()
