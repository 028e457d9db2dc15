"""Job scripts for Slurm and LSF, run with stand-ins for what a cluster has: csaw's commands parse, and a job that is
cut off resumes.
"""

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from csaw.cli.main import cli

SCRIPTS = {"slurm.sh": "srun", "summit.lsf": "jsrun"}
ARRAYS = {
    "slurm-array.sh": {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "16"},
    "lsf-array.lsf": {"LSB_JOBINDEX": "4", "LSB_JOBINDEX_END": "16"},
}
DASK = {"slurm-dask.sh": {"SLURM_CPUS_ON_NODE": "42"}, "lsf-dask.lsf": {"LSB_JOBID": "17", "WORKERS": "6"}}
FOLDER = Path(__file__).parents[2] / "scripts"
RECORD = '#!/usr/bin/env bash\necho "$(basename "$0") $(printf "%q " "$@")" >> "$RECORDED"\n'
LAUNCH = RECORD + 'while [ "$1" != csaw ] && [ "$1" != dask ]; do shift; done\nexec "$@"\n'
SCHEDULE = RECORD + 'if [ "$1" = scheduler ]; then touch "${@: -1}"; fi\nexec sleep 60\n'
WAIT = RECORD + "trap 'exit 143' TERM\nwhile true; do sleep 0.05; done\n"


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A folder at the front of PATH with stand-ins, and what they were called with."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {
        "csaw": RECORD,
        "scontrol": RECORD,
        "srun": LAUNCH,
        "jsrun": LAUNCH,
        "dask": SCHEDULE,
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name, value in {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "RECORDED": str(tmp_path / "calls"),
        "SLURM_JOB_ID": "17",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return folder


def calls(command):
    return [shlex.split(line)[1:] for line in Path("calls").read_text().splitlines() if line.startswith(f"{command} ")]


def submit(script, **environment):
    return subprocess.run(
        ["bash", FOLDER / script], check=False, env=os.environ | environment, capture_output=True, text=True
    )


def parsed(arguments):
    """The options that a command of csaw makes of its arguments; click's error where it cannot."""
    name, *rest = arguments
    return cli.get_command(None, name).make_context(name, rest).params


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_job_samples_on_six_gpus_and_resumes_what_is_there(cluster, script):
    given = {"GRAPH": "web.zarr", "OUT": "walks.zarr", "OPTIONS": "--algo node2vec --p 0.5"}
    assert submit(script, **given).returncode == 0
    Path("walks.zarr.partial").mkdir()
    assert submit(script, **given).returncode == 0
    first, second = (parsed(call) for call in calls("csaw"))
    assert (first["graph"], first["out"], first["algo"], first["p"]) == ("web.zarr", "walks.zarr", "node2vec", 0.5)
    assert first["device"] == "cuda:0,1,2,3,4,5"
    assert (first["resume"], second["resume"]) == (False, True)
    assert len(calls(SCRIPTS[script])) == 2


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_job_benches_a_node(cluster, script):
    assert submit(script, JOB="bench", OUT="node.json").returncode == 0
    (call,) = calls("csaw")
    options = parsed(call)
    assert (options["device"], options["json_file"]) == ("cuda:0,1,2,3,4,5", "node.json")
    assert {"overview", "scaling"} <= set(",".join(options["suite"]).split(",")), "they measure all GPUs"


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_job_without_a_graph_says_so(cluster, script):
    job = submit(script)
    assert "GRAPH: a graph" in job.stderr
    assert job.returncode != 0


@pytest.mark.parametrize("script", ARRAYS)
def test_a_task_of_an_array_draws_its_shard(cluster, script):
    given = {"GRAPH": "web.zarr", "OUT": "walks.zarr", "OPTIONS": "--algo node2vec --device cuda:0,1"} | ARRAYS[script]
    assert submit(script, **given).returncode == 0
    assert submit(script, **given, SHARDS="99").returncode == 0
    first, second = (parsed(call) for call in calls("csaw"))
    assert (first["graph"], first["out"], first["shard"]) == ("web.zarr", "walks.zarr", "3/16")
    assert (second["shard"], second["device"]) == ("3/99", "cuda:0,1")


@pytest.mark.parametrize("script", DASK)
def test_a_job_of_several_nodes_starts_a_scheduler_and_workers(cluster, script):
    given = {"GRAPH": "web.zarr", "OUT": "walks.zarr", "OPTIONS": "--algo node2vec"} | DASK[script]
    (cluster / "csaw").write_text(RECORD + "sleep 0.5\n")
    assert submit(script, **given).returncode == 0
    Path("walks.zarr.partial").mkdir()
    assert submit(script, **given).returncode == 0
    first, second = (parsed(call) for call in calls("csaw"))
    assert (first["resume"], second["resume"]) == (False, True)
    started = {call[0]: call[call.index("--scheduler-file") + 1] for call in calls("dask")}
    assert started == dict.fromkeys(("scheduler", "worker"), first["cluster"])
    assert not Path(first["cluster"]).exists()


def test_the_pod_of_kubernetes_calls_csaw_with_the_operators_scheduler(cluster):
    job = yaml.safe_load((FOLDER / "kubernetes.yaml").read_text())["spec"]["job"]["spec"]["containers"][0]
    given = {each["name"]: each["value"] for each in job["env"]} | {
        "DASK_SCHEDULER_ADDRESS": "tcp://csaw-scheduler:8786"
    }
    given["OUT"] = "walks.zarr"  # of a folder that is there
    for _ in range(2):
        subprocess.run([*job["command"], *job["args"]], check=True, env=os.environ | given)
        Path("walks.zarr.partial").mkdir(exist_ok=True)
    first, second = (parsed(call) for call in calls("csaw"))
    assert (first["graph"], first["out"], first["algo"], first["q"]) == (
        "/data/web.zarr",
        "walks.zarr",
        "node2vec",
        2.0,
    )
    assert first["cluster"] == given["DASK_SCHEDULER_ADDRESS"]
    assert (first["resume"], second["resume"]) == (False, True)


@pytest.mark.parametrize("script", [*SCRIPTS, *ARRAYS, *DASK])
def test_a_job_that_is_cut_off_ends_csaw_and_goes_back_to_the_queue(cluster, script):
    (cluster / "csaw").write_text(WAIT)
    Path("walks.zarr.partial").mkdir()
    given = {"GRAPH": "web.zarr", "OUT": "walks.zarr"} | {**ARRAYS, **DASK}.get(script, {})
    job = subprocess.Popen(["bash", FOLDER / script], env=os.environ | given)
    while not Path("calls").exists() or not calls("csaw"):
        assert job.poll() is None
        time.sleep(0.02)
    job.send_signal(signal.SIGTERM)
    job.wait(timeout=20)
    if script.startswith("slurm"):
        assert job.returncode == 0
        assert calls("scontrol") == [["requeue", "17"]]
    else:
        assert job.returncode == 99
        assert '#BSUB -Q "99"' in (FOLDER / script).read_text()


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_job_that_fails_keeps_its_status(cluster, script):
    (cluster / "csaw").write_text(RECORD + "exit 1\n")
    assert submit(script, GRAPH="web.zarr", OUT="walks.zarr").returncode == 1
    assert not calls("scontrol")
