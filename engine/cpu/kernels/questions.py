"""Second-order walks on a graph in parts: questions that no row in memory can answer are asked later.

A trial's candidate is accepted or not by whether the previous vertex has an edge to it. If neither that vertex's row is in memory nor, on an
undirected graph, the candidate's, a walker notes the candidate and its coin and makes its next trial, until one needs no answer (``sure``) or it
has noted as many as it can. It then waits for a row that answers the first question, instead of for two partitions at a time. Random numbers have
addresses, so its walk is the same.

trials      u32 [n]     the trial to make next in the present step
asked       u8  [n]     how many questions a walker waits with; a walker with none waits for the row of its own vertex
candidates  id  [n, 4]  and coins f64 [n, 4]: the questions, in the order of trials
sure        i64 [n]     the vertex to go to if all answers are no; -1: make more trials
"""

from numba import int64

from csaw.engine.cpu.kernels.access import borrowed, can_ask
from csaw.engine.cpu.kernels.constants import edge_bias
from csaw.engine.cpu.kernels.walk import after, put, save, with_path
from csaw.partition.compile import inner, njit


@njit(nogil=True)
def answer_questions(
    todo, first, graph, params, bounds, seed, length, source, at, prev, step, alive, trials, asked, candidates, coins, sure, out, bad
):  # fmt: skip
    """Answer the questions of the walkers of ``todo``, as many as rows in memory can, and let those who know where to go take their step."""
    graph = borrowed(graph)
    _, high, _ = bounds
    for w in todo:
        v, back, t = at[w], prev[w], step[w]
        answered, goal = int64(0), int64(-1)
        while goal < 0 and answered < asked[w] and can_ask(graph, back, int64(candidates[w, answered])):
            dst = int64(candidates[w, answered])
            bias = edge_bias(params, graph, seed, first + w, t, source[w], back, v, dst, 1.0)
            if coins[w, answered] * high < bias:
                goal = dst
            answered += 1
        if goal < 0 and answered < asked[w]:
            keep_rest(w, answered, asked, candidates, coins)
            continue
        goal = goal if goal >= 0 else sure[w]
        asked[w] = 0
        if goal >= 0:
            then = after(params, with_path(graph, out, w), seed, first + w, t, source[w], back, v, goal, 1.0, bad)
            if then >= 0:
                t += 1
                put(out, w, t, then)
            save(w, v, then, t, length, at, prev, step, alive, out)
            trials[w] = 0


@inner
def keep_rest(w, answered, asked, candidates, coins):
    """Forget a walker's first ``answered`` questions."""
    rest = asked[w] - answered
    for i in range(rest):
        candidates[w, i], coins[w, i] = candidates[w, answered + i], coins[w, answered + i]
    asked[w] = rest
