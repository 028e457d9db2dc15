"""Random faults in a folder of files: what disks, copies, other programs and people do to a store."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

NUMBERS = [
    0,
    1,
    -1,
    2,
    7,
    255,
    1 << 31,
    (1 << 31) - 1,
    4_000_000_000,
    1 << 32,
    (1 << 32) - 1,
    1 << 53,
    1 << 63,
    (1 << 63) - 1,
    1 << 64,
    -(1 << 63),
    10**30,
    0.5,
    -1.5,
    1e308,
    float("nan"),
    float("inf"),
    10**400,
]
VALUES: list[Any] = [
    *NUMBERS,
    None,
    True,
    False,
    "",
    "x",
    "0",
    "int32",
    "float64",
    "identity",
    "string",
    "../..",
    "\x00",
    "\u00b2",
    "\ud800",
    [],
    {},
    [[]],
    [0],
    {"a": 1},
    [None, None],
    "9" * 5000,
]
ELEMENTS = [
    0,
    1,
    5,
    4_000_000_000,
    (1 << 32) - 1,
    1 << 31,
    -1,
    (1 << 63) - 1,
    -(1 << 63),
    1 << 40,
    0x7FC00000,
    0x7F800000,
    0xBF800000,
]
TEXTS = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"0",
    b'""',
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"{}",
    b'{"attributes": null}',
    b'{"attributes": []}',
    b"[" * 100_000,
    b'{"attributes": {"csaw_kind": "graph"}}',
    b'{"attributes": {"csaw_kind": "samples"}}',
    b"NaN",
]


def damage(folder: Path, random: Random) -> str:
    """Do one random fault to a file below ``folder``; what it was, in words."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    if not files:
        return "no file left to damage"
    nodes = [file for file in files if file.name == "zarr.json"]
    if nodes and random.random() < 0.4:
        file = (
            random.choice([folder / "zarr.json", *nodes]) if (folder / "zarr.json").is_file() else random.choice(nodes)
        )
        return random.choice([edit_json, edit_json, edit_json, replace_text])(file, random)
    file = random.choice(files)
    return random.choice(FAULTS)(file, random)


def short(file: Path) -> str:
    """The end of a path, which says enough."""
    return "/".join(file.parts[-3:])


def flip(file: Path, random: Random) -> str:
    data = bytearray(file.read_bytes())
    if not data:
        return extend(file, random)
    places = [random.randrange(len(data)) for _ in range(random.choice([1, 1, 1, 3]))]
    for place in places:
        data[place] ^= 1 << random.randrange(8)
    file.write_bytes(data)
    return f"flipped a bit of each of bytes {places} of {short(file)}"


def overwrite(file: Path, random: Random) -> str:
    data = bytearray(file.read_bytes())
    start, size = random.randrange(len(data) + 1), random.choice([1, 8, 64, 4096])
    end = min(len(data), start + size)
    data[start:end] = bytes(end - start) if random.random() < 0.5 else random.randbytes(end - start)
    file.write_bytes(data)
    return f"overwrote bytes {start} to {end} of {short(file)}"


def put_element(file: Path, random: Random) -> str:
    data, width = bytearray(file.read_bytes()), random.choice([4, 8])
    if len(data) < width:
        return extend(file, random)
    place, value = random.randrange(len(data) // width), random.choice(ELEMENTS)
    data[place * width : (place + 1) * width] = (value % (1 << 8 * width)).to_bytes(width, "little")
    file.write_bytes(data)
    return f"made number {place} (of {width} bytes) of {short(file)} {value}"


def swap_elements(file: Path, random: Random) -> str:
    data, width = bytearray(file.read_bytes()), random.choice([4, 8])
    if len(data) < 2 * width:
        return extend(file, random)
    a, b = (width * random.randrange(len(data) // width) for _ in range(2))
    data[a : a + width], data[b : b + width] = data[b : b + width], data[a : a + width]
    file.write_bytes(data)
    return f"swapped bytes {a} and {b} ({width} each) of {short(file)}"


def truncate(file: Path, random: Random) -> str:
    size = random.choice([0, random.randrange(file.stat().st_size + 1)])
    os.truncate(file, size)
    return f"cut {short(file)} to {size} bytes"


def extend(file: Path, random: Random) -> str:
    more = random.choice([b"\0", b" ", b"\n", random.randbytes(random.choice([1, 4, 8, 100]))])
    with file.open("ab") as end:
        end.write(more)
    return f"{len(more)} more bytes after {short(file)}"


def delete(file: Path, random: Random) -> str:
    file.unlink()
    return f"deleted {short(file)}"


def delete_folder(file: Path, random: Random) -> str:
    shutil.rmtree(file.parent)
    return f"deleted the folder {short(file.parent)}"


def become_folder(file: Path, random: Random) -> str:
    file.unlink()
    file.mkdir()
    return f"made {short(file)} a folder"


def become_file(file: Path, random: Random) -> str:
    shutil.rmtree(file.parent)
    file.parent.write_bytes(b"")
    return f"made the folder {short(file.parent)} a file"


def become_link(file: Path, random: Random) -> str:
    file.unlink()
    file.symlink_to(random.choice([file.name, "nowhere", "/dev/null", "."]))
    return f"made {short(file)} a link to {os.readlink(file)}"


def _other(file: Path, random: Random) -> Path:
    """A file of the same store, rather of the same size."""
    top = next((parent for parent in file.parents if parent.suffix == ".zarr"), file.parent)
    others = sorted(one for one in top.rglob("*") if one.is_file() and one != file)
    alike = [one for one in others if one.stat().st_size == file.stat().st_size]
    return random.choice(alike if alike and random.random() < 0.7 else others or [file])


def swap_files(file: Path, random: Random) -> str:
    other = _other(file, random)
    ours, theirs = file.read_bytes(), other.read_bytes()
    file.write_bytes(theirs)
    other.write_bytes(ours)
    return f"swapped {short(file)} and {short(other)}"


def copy_over(file: Path, random: Random) -> str:
    other = _other(file, random)
    file.write_bytes(other.read_bytes())
    return f"copied {short(other)} over {short(file)}"


def replace_text(file: Path, random: Random) -> str:
    text = random.choice(TEXTS)
    file.write_bytes(text)
    return f"made {short(file)} {text[:40]!r}"


def edit_json(file: Path, random: Random) -> str:
    try:
        value = json.loads(file.read_bytes())
    except (ValueError, RecursionError):  # an earlier fault's work
        return flip(file, random)
    places = list(_places(value))
    if not places:
        return replace_text(file, random)
    holder, key, path = random.choice(places)
    told = random.choice([_set, _set, _set, _drop, _nest, _near])(holder, key, random)
    file.write_text(json.dumps(value))
    return f"{told} {path} of {short(file)}"


def _places(value: Any, path: str = "") -> Any:
    """Every (holder, key, path) below a value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key, f"{path}/{key}"
        yield from _places(value[key], f"{path}/{key}")


def _set(holder: Any, key: Any, random: Random) -> str:
    holder[key] = random.choice(VALUES)
    return f"set {str(holder[key])[:30]!r} at"


def _drop(holder: Any, key: Any, random: Random) -> str:
    del holder[key]
    return "dropped"


def _nest(holder: Any, key: Any, random: Random) -> str:
    holder[key] = random.choice([[holder[key]], {"value": holder[key]}, str(holder[key])])
    return "nested"


def _near(holder: Any, key: Any, random: Random) -> str:
    old = holder[key]
    if isinstance(old, bool) or not isinstance(old, int | float):
        return _set(holder, key, random)
    holder[key] = random.choice([old + 1, old - 1, -old, old * 2, old // 2, old + (1 << 32), float(old)])
    return f"made {old} {holder[key]} at"


FAULTS: list[Callable[[Path, Random], str]] = [
    flip,
    flip,
    flip,
    overwrite,
    put_element,
    put_element,
    swap_elements,
    truncate,
    truncate,
    extend,
    delete,
    delete_folder,
    become_folder,
    become_file,
    become_link,
    swap_files,
    swap_files,
    copy_over,
]
