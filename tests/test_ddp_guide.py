"""The script that trains on several GPUs, run on CPUs: processes share epochs, and its page shows what it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

from helpers.machine import need_package

GUIDES = Path(__file__).parents[1] / "docs" / "guides"
PAGE = (GUIDES / "train-on-several-gpus.md").read_text()
ENV = os.environ | {
    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    "OMP_NUM_THREADS": "1",
    "GLOO_SOCKET_IFNAME": "lo",
    "CUDA_VISIBLE_DEVICES": "",
}
LINE = re.compile(r"^epoch \d+: mini-batches (\[.*\]), (.*)$", re.MULTILINE)


def trained(processes, *options):
    """What the script prints with so many processes."""
    words = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--nproc-per-node", str(processes)]
    words = [sys.executable, "-m", "torch.distributed.run", *words, str(GUIDES / "train_ddp.py"), *options]
    return subprocess.run(words, check=True, capture_output=True, text=True, env=ENV, timeout=240).stdout


def test_the_page_has_the_script():
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert script == (GUIDES / "train_ddp.py").read_text()


def test_processes_share_each_epoch_and_print_what_the_page_shows():
    need_package("torch_geometric")
    printed = trained(2)
    for line in ("epoch 0: ", "epoch 1: "):
        (shown,) = re.findall(f"^{line}.*$", PAGE, re.MULTILINE)
        assert shown in printed.splitlines()
    epochs = LINE.findall(printed)
    assert len(epochs) == len({seeds for _, seeds in epochs}) == 12, "each epoch has another order"
    assert {shares for shares, _ in epochs} == {"[3, 4]"}, "the shares are uneven, so join() has work"
    assert float(printed.split("accuracy ")[1]) > 0.8
    alone = LINE.findall(trained(1, "--epochs", "2"))
    assert [seeds for _, seeds in alone] == [seeds for _, seeds in epochs[:2]]
