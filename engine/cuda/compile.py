"""Kernels compiled for one algorithm and one kind of GPU, without a GPU, so that they can be tested without one:
constants and hooks in front of the CUDA C++ files that a plan needs.

A hook is Python; numba-cuda compiles it to LTO-IR and nvJitLink inlines it into the kernels. Nothing is contracted to
fused multiply-adds, so that a bias has the same bits here and on the CPU. The result, a cubin, is kept on disk.
"""

import hashlib
import logging
import re
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from csaw.engine.api.hooks import Hook
from csaw.engine.api.rules import Steps
from csaw.engine.cuda import hook_code
from csaw.engine.cuda.declarations import SHARED
from csaw.engine.cuda.hook_code import OF_SAMPLERS, Signature, c_type, compiled, hook_side, plain_body
from csaw.engine.plan.batch_kind import BatchKind
from csaw.engine.plan.choices import DETECTOR_CODES as DETECT
from csaw.engine.plan.choices import GraphLayout, Method, Residency
from csaw.engine.plan.needs import QUESTIONS
from csaw.engine.schedule.specialization import OFF, WEIGHT, Specialization
from csaw.partition.base import stages
from csaw.partition.base.cache import code_folder, own_file, write_own
from csaw.partition.base.file_locks import alone
from csaw.partition.base.first_work import LITTLE
from csaw.partition.base.kernel_time import compiles, finds
from csaw.partition.errors import DeviceError, OptionError
from csaw.partition.graph.edge_columns import DTYPES, EdgeColumn

FOLDER = Path(__file__).with_name("kernels")
OF_RUNS: dict[str, int] = {
    "PIECES": 0,
    "STREAMED": 0,
    "CHECKED": 0,
    "READS_PATH": 0,
    "EXTREME": 0,
    "MEMBERSHIP": 0,
    "ASKS_BACK": 0,
    "ASKS_LATER": 0,
    "QUESTIONS": 1,
    "UNLIMITED": 0,
    **OFF,
    "BUILDS": 0,
    "MEMBER_WEIGHTS": 0,
    "EDGE_COLUMNS": 0,
    "EDGE_TYPES": 0,
    "WIDE": 0,
    "LAYOUT": 0,
    "TABLES": 1,
    "UNDIRECTED": 0,
    "SYMMETRIC_WEIGHTS": 0,
    "SIMPLE": 0,
    "WEIGHTED": 0,
    "NEIGHBOR_WEIGHTS": 0,
    "HAS_UPDATE": 0,
    "HAS_DEAD_END": 0,
    "UNIFORM": 0,
    "SELECT": 0,
    "REPLACE": 0,
    "SUCCESSIVE": 0,
    "PLACED": 0,
    "DISJOINT": 0,
    "TYPED": 0,
    "POOLED": 0,
    "INDUCED": 0,
    "COLLECTIVE": 0,
    "KEYED": 0,
    "EVERYWHERE": 0,
    "EACH_EDGE_ONCE": 0,
    "GEOMETRIC": 0,
    "SELECTS_FRONTIER": 0,
    "COLLISION": 0,
    "DETECT": 0,
}
"""Constants of samplers' kernels, with the values of runs that do not say others."""
OF_MEASURES: dict[str, int] = {
    "EACH": 0,
    "DENSE": 8192,
    "HAS_START_HOOK": 0,
    "HAS_EDGE_HOOK": 0,
    "HAS_VERTEX_HOOK": 0,
    "HAS_TOTAL_HOOK": 0,
    "COMBINE": 0,
    "REAL": 0,
    "COMBINED_REAL": 0,
    "TOTAL_REAL": 0,
    "SENT": 0,
}
"""Constants of measures' kernels."""
CONSTANTS = OF_RUNS | OF_MEASURES
INSTALL = (
    "for a driver of CUDA 13: pip install 'cupy-cuda13x<15' 'numba-cuda[cu13]<1'; "
    "for one of CUDA 12: pip install 'cupy-cuda12x<15' 'numba-cuda[cu12]<1'"
)
VARIABLES = ("GRAPH", "BUSY")  # of the files in FOLDER, which the host reads or writes
ALONE = threading.Lock()  # numba-cuda compiles in one thread at a time, and what compiles is imported in one
making: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)  # what one thread makes the others find
log = logging.getLogger(__name__)


def cubin(
    files: tuple[str, ...],
    constants: dict[str, int],
    hooks: list[Hook],
    params: tuple[float, ...],
    architecture: str,
    signatures: Mapping[str, Signature] = OF_SAMPLERS,
    launched: tuple[str, ...] | None = None,
) -> Path:
    """The file of machine code of ``files`` for an architecture such as ``sm_90``; compiled when it is not there yet.

    ``files`` are those of the folder kernels, or whole paths of others. ``signatures``: of the hooks that these call.
    ``launched``: the kernels to make code of, which is what takes the time; None: all of the files'.
    HookRefused for a hook that is no function of numbers that a GPU can run.
    """
    used = {hook.name: hook for hook in hooks}
    text = _source(files, CONSTANTS | constants, used, params, signatures)
    inputs = [
        text,
        architecture,
        *(launched or ()),
        *(hook.source for hook in hooks),
        *_texts(files).values(),
        *(Path(file).read_text() for file in (__file__, hook_code.__file__)),
    ]
    stamp = hashlib.sha256("\0".join([*inputs, _versions()]).encode()).hexdigest()[:24]
    path = code_folder("cuda") / f"{stamp}.{architecture}.cubin"
    with finds(), making[path]:
        if not own_file(path):
            with alone(path.with_suffix(".lock")):
                if not own_file(path):
                    with stages.stage(stages.COMPILING), compiles(" ".join(Path(file).name for file in files)):
                        _make(path, text, list(used.values()), params, architecture, signatures, launched)
    return path


def _make(
    path: Path,
    text: str,
    hooks: list[Hook],
    params: tuple[float, ...],
    architecture: str,
    signatures: Mapping[str, Signature],
    launched: tuple[str, ...] | None,
) -> None:
    """Compile ``text`` and the hooks, and write the linked code to ``path`` as a whole."""
    with ALONE:
        import cuda.bindings.nvjitlink
        import cuda.core  # noqa: F401 - two threads that import it at once find it half made
    parts = [_kernels(text, architecture)]
    with ALONE:
        parts += [
            compiled(hook, params, signatures[hook.name], architecture) for hook in hooks if plain_body(hook) is None
        ]
    write_own(path, _link(parts, architecture, launched))


def _versions() -> str:
    from importlib.metadata import version

    try:
        return " ".join(version(name) for name in ("numba-cuda", "cuda-core", "cuda-bindings"))
    except ModuleNotFoundError as error:
        raise DeviceError(f"CUDA kernels cannot be compiled: {error.name} is missing; {INSTALL}") from error


def _source(
    files: tuple[str, ...],
    constants: dict[str, int],
    hooks: dict[str, Hook],
    params: tuple[float, ...],
    signatures: Mapping[str, Signature] = OF_SAMPLERS,
) -> str:
    """One translation unit: constants, shared ones too, the graph, the hooks' C++ side, the kernels.

    Constants that none of the files reads are left out, so that plans that differ in nothing else share their machine
    code.
    """
    read = set(re.findall(r"\w+", " ".join(_texts(files).values())))
    lines = [f"#define {name} {int(value)}" for name, value in sorted((SHARED | constants).items()) if name in read]
    lines.append('#include "graph.cuh"')
    fields = " ".join(f"{c_type(p)} v{k};" for k, p in enumerate(params))
    lines.append(f"struct Params {{ {fields or 'char none;'} }};")
    lines += [hook_side(name, hooks.get(name), params, signature) for name, signature in signatures.items()]
    return "\n".join(lines + [f'#include "{file}"' for file in files]) + "\n"


@cache
def _texts(files: tuple[str, ...]) -> dict[str, str]:
    """The files, engine/cuda/kernels/graph.cuh, and what they include, by path."""
    waiting, texts = [FOLDER / file for file in ("graph.cuh", *files)], dict[str, str]()
    while waiting:
        file = waiting.pop()
        if str(file) not in texts:
            texts[str(file)] = file.read_text()
            waiting += [_included(file.parent, name) for name in re.findall(r'#include "([^"]+)"', texts[str(file)])]
    return texts


def _included(folder: Path, name: str) -> Path:
    """The file that one in ``folder`` includes: beside it, or of the kernels that all share."""
    return folder / name if (folder / name).exists() else FOLDER / name


def _kernels(text: str, architecture: str) -> bytes:
    """LTO-IR of the CUDA C++ side, by NVRTC."""
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(
        arch=architecture,
        std="c++17",
        relocatable_device_code=True,
        link_time_optimization=True,
        fma=False,
        include_path=[str(FOLDER)],  # what is beside a file is found without it
    )
    return bytes(Program(text, "c++", options).compile("ltoir").code)


def _link(parts: list[bytes], architecture: str, launched: tuple[str, ...] | None) -> bytes:
    """One cubin of several LTO-IR inputs, with the kernels that are ``launched``, or all.

    Code is made here, so contraction is switched off here too.
    """
    from cuda.bindings import nvjitlink

    options = ["-lto", f"-arch={architecture}", "-fma=0", "-O3", "-verbose"]
    if launched is not None:
        options += [f"-kernels-used={','.join(launched)}", f"-variables-used={','.join(VARIABLES)}"]
    linker = nvjitlink.create(len(options), options)
    try:
        for number, part in enumerate(parts):
            nvjitlink.add_data(linker, nvjitlink.InputType.LTOIR, part, len(part), f"part {number}")
        try:
            nvjitlink.complete(linker)
        except nvjitlink.nvJitLinkError as error:
            report = bytearray(nvjitlink.get_error_log_size(linker))
            nvjitlink.get_error_log(linker, report)
            raise DeviceError(
                f"kernels could not be linked for {architecture}: {report.decode(errors='replace').strip()}"
            ) from error
        report = bytearray(nvjitlink.get_info_log_size(linker))
        nvjitlink.get_info_log(linker, report)
        log.debug("%s", report.decode(errors="replace"))  # registers and spills
        code = bytearray(nvjitlink.get_linked_cubin_size(linker))
        nvjitlink.get_linked_cubin(linker, code)
    finally:
        nvjitlink.destroy(linker)
    return bytes(code)


MOST_COLUMNS = 15  # whose types fit a constant of 64 bits
FILES = {
    BatchKind.WALKS: ("walk.cu", "walk_arrays.cu"),
    BatchKind.UNLIMITED_WALKS: ("walk.cu", "walk_arrays.cu"),
    BatchKind.CLUSTERS: (),
    BatchKind.CLOCK_WALKS: ("clocks.cu",),
    BatchKind.WHOLE_MINIBATCHES: ("minibatches.cu",),
    BatchKind.MINIBATCHES: ("select.cu",),
    BatchKind.MINIBATCHES_BY_RELATION: ("select.cu",),
    BatchKind.MINIBATCHES_IN_TIME: ("neighbors_in_time.cu",),
    BatchKind.MINIBATCHES_BY_RELATION_IN_TIME: ("neighbors_in_time.cu",),
    BatchKind.NEIGHBORS_BY_RELATION: ("select.cu",),
    BatchKind.NEIGHBORS_BY_RELATION_IN_TIME: ("neighbors_in_time.cu",),
    BatchKind.SUBGRAPHS_BY_RELATION: ("select.cu",),
    BatchKind.SUBGRAPHS_BY_RELATION_IN_TIME: ("neighbors_in_time.cu",),
    BatchKind.IN_TIME: ("neighbors_in_time.cu",),
    BatchKind.HOP_TABLES_IN_TIME: ("hops_in_time.cu", "transits.cu"),
    BatchKind.SHARED_DRAWS_IN_TIME: ("lists_in_time.cu",),
    BatchKind.SHARED_DRAWS_BY_RELATION_IN_TIME: ("lists_in_time.cu",),
    BatchKind.POOLS_IN_TIME: ("lists_in_time.cu", "rows.cu"),
    BatchKind.SHARED_DRAWS_BY_RELATION: ("shared.cu",),
    BatchKind.SHARED_DRAWS: ("shared.cu",),
    BatchKind.LAYERS: ("rows.cu", "layers.cu"),
    BatchKind.BUDGETS: ("rows.cu", "lists.cu"),
    BatchKind.BUDGETS_IN_TIME: ("rows.cu", "neighbors_in_time.cu"),
    BatchKind.UNIQUE: ("select.cu",),
    BatchKind.UNIQUE_BY_RELATION: ("select.cu",),
    BatchKind.TREES: ("trees.cu",),
    BatchKind.HOP_TABLES: ("hops.cu", "transits.cu"),
    BatchKind.HOP_TABLES_BY_RELATION: ("hops.cu",),
    BatchKind.POOLS: ("select.cu", "pools.cu"),
    BatchKind.FRONTIERS: ("select.cu",),
    BatchKind.LINKS: ("links.cu",),
}
"""The files that the batches of each kind need."""
COUNT_BUSY = {"walk.cu", "select.cu", "neighbors_in_time.cu"}
"""The files whose kernels can count how long multiprocessors work."""


@dataclass(frozen=True)
class Unit:
    """Some .cu files specialized for one algorithm, or for one measure of the user's own.

    ``signatures``: of the hooks that the files call, by name. ``launched``: the kernels among those of the files that
    are wanted; None: all.
    """

    files: tuple[str, ...]
    constants: dict[str, int]
    hooks: list[Hook]
    params: tuple[float, ...]
    signatures: Mapping[str, Signature] = field(default_factory=lambda: OF_SAMPLERS)
    launched: tuple[str, ...] | None = None

    def compile(self, architecture: str) -> Path:
        """The cubin for an architecture such as ``sm_90``."""
        return cubin(self.files, self.constants, self.hooks, self.params, architecture, self.signatures, self.launched)


def compile_all(units: Sequence[Unit], architecture: str) -> None:
    """Compile what the cache lacks of these units, each in a thread of its own, which NVRTC and nvJitLink let run."""
    wanted = [unit for unit in units if unit.launched != ()]
    with ThreadPoolExecutor(len(units)) as threads:
        list(threads.map(lambda unit: unit.compile(architecture), wanted))


def counts_busy(backend: Specialization) -> bool:
    """Whether the kernels that sample count how long multiprocessors work, over partitions of a streamed graph."""
    return backend.streamed and bool(COUNT_BUSY & set(FILES[backend.plan.kind]))


def kernels_of(backend: Specialization) -> Unit:
    """The source of the kernels that sample."""
    lists = ("lists.cu",) if backend.plan.lists_members else ()
    in_time = ("temporal.cu",) if backend.select is Method.TIME and isinstance(backend.rule, Steps) else ()
    own = FILES[backend.plan.kind]
    by_sums = ("sums.cu",) if backend.plan.graph_layout.has_sums and (backend.streamed or "select.cu" in own) else ()
    files = *own, *in_time, *by_sums, *lists
    return Unit(files, _constants(backend), backend.hooks(), backend.params, launched=_launched(backend))


def walk_kernel(backend: Specialization) -> str:
    """The kernel that draws walks."""
    if backend.select in (Method.REJECTION, Method.TIME):
        return "walk_by_rejection" if backend.select is Method.REJECTION else "walk_by_time"
    return "walk_by_edge" if backend.select.exact_number else "walk_by_row"


def hop_kernel(backend: Specialization) -> str:
    """The kernel that draws a hop of tables."""
    if backend.rule.replace:
        return "hop_with_replacement"
    return "hop_distinct_by_sums" if backend.plan.graph_layout.has_sums else "hop_distinct"


def _launched(backend: Specialization) -> tuple[str, ...] | None:
    """The kernels of a plan, where its files have others for other plans that take long to compile; None: all."""
    lists = ("list_rows",) if backend.plan.lists_members else ()
    if backend.plan.kind is BatchKind.HOP_TABLES_BY_RELATION:
        return ("hop_of_relation",)
    if backend.plan.kind is BatchKind.HOP_TABLES:
        return hop_kernel(backend), "group_count", "group_scatter", "ungroup", *lists
    if not isinstance(backend.rule, Steps):
        return None
    return (
        walk_kernel(backend),
        "count_walks",
        *lists,
        *(("count_waiting",) if backend.streamed or backend.unlimited else ()),
        *(("gather_round",) if backend.unlimited else ()),
        *(("answer_questions",) if backend.asks_later else ()),
        *(("fill_times",) if backend.needs.timed else ()),
    )


def builder_of(backend: Specialization) -> Unit:
    """The source of the kernels that build the graph's layout.

    Alias tables are made of biases; for rejection, of weights. What reads none is compiled without them, once for all
    algorithms.
    """
    layout = backend.plan.graph_layout
    weighed: tuple[str, ...] = ("build_ctps",) if layout.has_sums else ()
    if layout.has_alias_tables:
        weighed = "list_long", "build_alias", "fill_long"
    launched = (
        *weighed,
        *(("build_entries",) if layout is GraphLayout.ENTRIES else ()),
        *(("build_events",) if layout is GraphLayout.EVENTS else ()),
        *{"filter": ("build_bloom",), "hash": ("build_members",)}.get(backend.plan.membership, ()),
        *(("copy_rows",) if backend.streamed else ()),
    )
    files = ("build.cu", "build_events.cu") if layout is GraphLayout.EVENTS else ("build.cu",)
    constants = _constants(backend) | {"NEIGHBOR_WEIGHTS": backend.needs.weights, "BUILDS": True}
    if not weighed:
        unread = dict.fromkeys(("NEIGHBOR_WEIGHTS", "EDGE_COLUMNS", "EDGE_TYPES"), 0)
        return Unit(files, constants | unread, [], (), launched=launched)
    bias = WEIGHT if backend.select is Method.REJECTION else backend.bias
    return Unit(files, constants, [bias], backend.params, launched=launched)


TRANSFER = "compare_blocks", "find_unlimited", "place_offsets", "relabel"


def transfer_of(backend: Specialization) -> Unit:
    """The source of the kernels that check what a resident graph reads, and convert the ids of samples; none where
    either is so little that NumPy takes less time for it than they to load.
    """
    plan, read = backend.plan, backend.store.edges * backend.needs.edge.stored
    much = max(plan.output_bytes, read * (plan.residency is Residency.RESIDENT)) > LITTLE
    return Unit(("transfer.cu",), {}, [], (), launched=TRANSFER if much else ())


def sparse_pools(backend: Specialization) -> bool:
    """Whether kernels store the complement of each pool: SPARSE in engine/cuda/kernels/select.cu."""
    c = backend.constants()
    return bool(
        c.get("POOLED") and c["UNIFORM"] and c["SELECT"] == "uniform" and not (c["INDUCED"] or c["EACH_EDGE_ONCE"])
    )


def edge_types(columns: Sequence[EdgeColumn]) -> int:
    """The types of edge columns for kernels: for each, four bits with the place of its type in DTYPES.

    OptionError for more columns than kernels can tell apart.
    """
    if len(columns) > MOST_COLUMNS:
        raise OptionError(f"hooks read {len(columns)} edge columns; on GPUs they can read at most {MOST_COLUMNS}")
    return sum(DTYPES.index(column.dtype.name) << 4 * number for number, column in enumerate(columns))


def _constants(backend: Specialization) -> dict[str, int]:
    own = {
        "PIECES": backend.plan.residency.in_pieces,
        "STREAMED": backend.streamed,
        "MEMBERSHIP": backend.needs.second_order,
        "ASKS_LATER": backend.asks_later,
        "QUESTIONS": QUESTIONS,
        "UNLIMITED": backend.unlimited,
        "BUILDS": False,
        "EDGE_TYPES": edge_types(backend.needs.edge_columns),
        "MEMBER_WEIGHTS": backend.weighs_members,
        "LAYOUT": backend.plan.graph_layout.code,
        "WIDE": backend.store.id_dtype.itemsize == 8,
    }
    if not isinstance(backend.rule, Steps):
        own |= {"DISJOINT": bool(getattr(backend.algorithm, "disjoint", False))}
        own |= {"TYPED": backend.store.relation_rows is not None}
        own |= {"SELECTS_FRONTIER": backend.rule.waiting is not None}
        own |= {"GEOMETRIC": backend.rule.coins, "EVERYWHERE": backend.needs.everywhere}
    constants = backend.constants() | own
    constants |= {
        "SELECT": backend.select.code,
        "COLLISION": backend.plan.collision.code,
        "DETECT": DETECT[backend.plan.detect],
    }
    return {name: int(value) for name, value in constants.items()}
