"""The same promises on an S3 server. Runs where moto's server and s3fs are installed (requirements-dev.txt)."""

import pytest

from curator_core.files.faults import hooked
from curator_core.values.errors import OutputError

pytestmark = [
    pytest.mark.chaos,
    # The client of the server uses what Python has deprecated, and leaves its connections to the collector.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def bucket(monkeypatch):
    """A bucket on a server of this process, to which ``s3://`` leads."""
    moto_server = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    s3fs.S3FileSystem.clear_instance_cache()
    store = s3fs.S3FileSystem()
    store.mkdir("bucket")
    yield store
    store.rm("bucket", recursive=True)  # the server's state outlives it
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


def objects_in(store):
    store.invalidate_cache()
    return {name.rpartition("/")[2]: store.cat_file(name) for name in store.find("bucket/out")}


@pytest.mark.parametrize("point", ["commit.begin", "commit.half_written", "commit.written", "commit.renamed"])
def test_a_run_that_stops_while_uploading_goes_on(bucket, make_world, point, figures):
    world = make_world(output="s3://bucket/out")
    expected = world.reference()
    visits = 0

    def stop(name):
        nonlocal visits
        visits += name == point
        if visits == 8:
            raise OSError(28, "No space left on device")

    with hooked(stop), pytest.raises(OutputError):
        world.run()
    figures.faults += 1
    assert objects_in(bucket).items() <= expected.items()
    world.run(resume=True)
    figures.resumes += 1
    figures.compare(objects_in(bucket), expected)
    assert world.run(resume=True).was_finished
    figures.check(f"s3://, {point}")


def test_output_of_input_that_is_gone_is_removed_from_the_store(bucket, make_world, figures):
    world = make_world(output="s3://bucket/out")
    world.run()
    (world.root / "in" / "004.jsonl").unlink()
    world.run(resume="changed")
    figures.faults += 1
    figures.compare(objects_in(bucket), world.reference())
    figures.check("s3://, a file that is gone")


def test_input_is_told_apart_by_its_etag(bucket, make_world, tmp_path):
    from curator_core import Pipeline
    from curator_core.values.errors import ResumeError
    from curator_text import ReadJsonl, WriteJsonl

    bucket.pipe_file("bucket/in/a.jsonl", b'{"text": "one"}\n')
    pipeline = Pipeline("p", stages=[ReadJsonl("s3://bucket/in"), WriteJsonl("s3://bucket/copy")])
    pipeline.run(run_dir=tmp_path / "run")
    assert pipeline.run(run_dir=tmp_path / "run", resume=True).was_finished
    bucket.pipe_file("bucket/in/a.jsonl", b'{"text": "two"}\n')
    bucket.invalidate_cache()
    with pytest.raises(ResumeError, match=r"a\.jsonl has changed"):
        pipeline.run(run_dir=tmp_path / "run", resume=True)
