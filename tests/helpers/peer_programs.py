"""Scripts that stand for the programs of peers."""

import stat
import sys

HEAD = f"#!{sys.executable}\nimport sys\nimport numpy as np\ngiven = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"


def programs(folder, names, text):
    folder.mkdir()
    for name in names:
        (folder / name).write_text(HEAD + text)
        (folder / name).chmod(stat.S_IRWXU)
    return str(folder)
