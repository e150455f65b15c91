"""Values in registers and in memory: the plan is the best there is, and code that follows it computes the same."""

import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot.fuse import fori_loop, once
from poinsot.fuse.graph.observers import observe
from poinsot.fuse.llvm.abi.inner_loop import kernel_module
from poinsot.fuse.llvm.target import Target
from poinsot.fuse.plan import registers
from poinsot.fuse.plan.registers import Registers
from sparing import few


class Log:
    """A memory that counts, and knows what it holds."""

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.loads = self.stores = 0

    def spill(self, node: str) -> None:
        assert node not in self.stored
        self.stored.add(node)
        self.stores += 1

    def reload(self, node: str) -> None:
        assert node in self.stored
        self.loads += 1

    def free(self, node: str) -> None:
        self.stored.discard(node)


class Value(str):
    """Stands for a node: values have a number."""

    index = property(lambda self: int(self))


rows = st.lists(st.sets(st.integers(0, 6).map(str), min_size=1, max_size=2), min_size=1, max_size=9)


def follow(operations: list[set[str]], room: int) -> tuple[Log, int]:
    """Values that are in memory from the beginning, as inputs do; the log, and the most that were held at once."""
    operations = [{Value(x) for x in each} for each in operations]
    uses: dict[Value, list[int]] = {}
    for number, each in enumerate(operations):
        for value in sorted(each):
            uses.setdefault(value, []).append(number)
    log, most = Log(), 0
    plan = Registers(uses, room, log)
    for value in uses:
        plan.is_in_memory(value)
        log.stored.add(value)
    for each in operations:
        plan.require(sorted(each))
        assert all(plan.holds(value) for value in each)
        most = max(most, plan.held)
        plan.use(sorted(each))
    assert plan.held == 0
    return log, most


def fewest_loads(operations: list[set[str]], room: int) -> int:
    """By trying every choice."""

    @cache
    def from_here(number: int, held: frozenset[str]) -> int:
        if number == len(operations):
            return 0
        wanted = frozenset(operations[number])
        missing, others = wanted - held, sorted(held - wanted)
        kept = room - len(wanted)
        ways = [frozenset(x for k, x in enumerate(others) if bits >> k & 1) for bits in range(1 << len(others))]
        return len(missing) + min(from_here(number + 1, wanted | way) for way in ways if len(way) <= kept)

    return from_here(0, frozenset())


@given(rows, st.integers(2, 4))
def test_no_other_plan_loads_less(operations, room):
    log, most = follow(operations, room)
    assert most <= room
    assert log.loads == fewest_loads(operations, room)
    assert log.stores == 0  # they are in memory already


def test_a_spilled_value_is_stored_once():
    uses = {Value(k): [k, 10 + k, 20 + k] for k in range(8)}
    log = Log()
    plan = Registers(uses, 4, log)
    for k in range(8):
        plan.use([])
        plan.define(Value(k))
        plan.require([Value(k)])
        plan.use([Value(k)])
    for k in range(8):
        plan.require([Value(k)])
        plan.use([Value(k)])
    assert plan.held <= 4
    plan.spill_all()
    assert plan.held == 0
    assert log.stores == 8


@pytest.mark.parametrize(("other", "stored"), [(29 + registers._STORE, 0), (31 + registers._STORE, 1)])
def test_values_in_memory_are_dropped_first_unless_they_are_needed_much_sooner(other, stored):
    near, far, new = Value(0), Value(1), Value(2)
    log = Log()
    plan = Registers({near: [30], far: [other], new: [3]}, 2, log)
    plan.is_in_memory(near)
    for value in (near, far, new):
        plan.define(value)
    assert log.stores == stored
    assert plan.holds(near) == bool(stored)
    assert plan.holds(far) == (not stored)


def most_live(plan: registers.Schedule, nodes: list) -> int:
    """Between any two operations, if they come in this order."""
    last = {arg: k for k, node in enumerate(nodes) for arg in plan.needs[node]}
    begins = {node: k for k, node in enumerate(nodes) if node in last}
    return max(sum(begins[x] <= k < last[x] for x in begins) for k in range(len(nodes)))


@pytest.mark.parametrize("seed", range(3))
def test_operations_in_another_order_come_after_their_operands(seed):
    graph = pt.kernel("(40)->(50)")(many(400, np.random.default_rng(seed))).program().graph
    plain, better = (registers.schedule(graph.live(), graph.outputs, set(), True, reorder) for reorder in (False, True))
    assert set(better.nodes) == set(plain.nodes)
    assert len(better.nodes) == len(plain.nodes)
    assert (better.needs, better.fused) == (plain.needs, plain.fused)
    place = {node: k for k, node in enumerate(better.nodes)}
    inside = {inner for part in better.fused.values() for inner in part}
    for node in better.nodes:
        args = [arg for part in (node, *better.fused.get(node, ())) for arg in part.args]
        assert all(place[arg] < place[node] for arg in args if arg not in inside)


def test_fewer_values_are_live_in_that_order():
    def function(x):
        roots = np.sqrt(np.stack([x * (1.0 + k) for k in range(8)]))  # all of them, and only then their sums
        return roots[:4] * roots[4:]

    graph = pt.kernel("(5)->(4,5)")(function).program().graph
    better = registers.schedule(graph.live(), graph.outputs, set(), True, reorder=True)
    plain = registers.schedule(graph.live(), graph.outputs, set(), True, reorder=False)
    assert most_live(plain, plain.nodes) > 35
    assert most_live(better, better.nodes) < 30


def test_a_product_that_one_sum_needs_is_fused_with_it():
    graph = pt.kernel("(),(),()->(),()")(lambda a, b, c: (a * b + c, b * c - a * (b * c))).program().graph
    live = graph.live()
    fused = registers.fused_products(live, graph.outputs)
    assert sorted(node.op for node in fused) == ["add", "sub"]
    assert all(sum(product in node.args for node in live) == 1 for (product,) in fused.values())


def test_so_is_a_sum_that_only_its_negative_needs():
    def function(a, b, c):
        product, total, difference = a * b, -(b * c + a), c - a * c
        return total, -difference * np.sqrt(c), -(a + b), -(product - a), product

    kernel = pt.kernel("(),(),()->(),(),(),(),()")(function)
    graph = kernel.program().graph
    fused = registers.fused_products(graph.live(), graph.outputs)
    assert sorted((node.op, len(inner)) for node, inner in fused.items()) == [("neg", 2), ("sub", 1)]
    args = np.random.default_rng(3).uniform(0.5, 2.0, (3, 40))
    for result, expected in zip(kernel(*args), function(*args), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-15)


def observed(a, b, c):
    """Two sums of products, and what shares one product and one sum with them, inside of a loop and a call."""
    f = once(lambda x, y, seen: (x * y + c, x - y * c, seen + x * y, -(x * y + c)))

    def body(i, carry):
        x, y, seen, more = carry
        p, q, seen, opposite = f(x, y, seen)
        return p - 0.5 * x, q + 0.25 * p, seen + 0.5 * x, more + opposite + y * y

    return fori_loop(3, body, (a, b, 0.0 * a, 0.0 * a))


def test_observers_change_no_bit():
    """The same kernel with its last outputs, which only observe, and without them."""
    args = np.random.default_rng(4).uniform(0.5, 2.0, (3, 500))
    whole = pt.kernel("(),(),()->(),(),(),()")(observed)
    alone = pt.kernel("(),(),()->(),()")(lambda a, b, c: observed(a, b, c)[:2])
    observe(alone.program().graph, ())
    expected = alone(*args)
    assert not np.array_equal(whole(*args)[:2], expected)  # for instance, x*y is no longer fused
    whole = pt.kernel("(),(),()->(),(),(),()")(observed)
    observe(whole.program().graph, (2, 3))
    np.testing.assert_array_equal(whole(*args)[:2], expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(whole))(*args)[:2], expected)
    for result, plain in zip(whole(*args), zip(*(observed(*row) for row in args.T), strict=True), strict=True):
        np.testing.assert_allclose(result, plain, rtol=1e-12, atol=1e-12)


def skipped(a, b, count):
    """A sum with a product, which is the result of a loop that is skipped and would not look at it; and the product."""
    result, _ = fori_loop(count, lambda i, carry: (0.5 * carry[1], carry[1] - 1.0), (a * b + 0.1, a), most=2)
    return result, a * b


def test_observers_change_no_bit_of_what_a_skipped_loop_leaves():
    a, b = np.random.default_rng(5).uniform(0.5, 2.0, (2, 500))
    alone = pt.kernel("(),(),()->()")(lambda a, b, count: skipped(a, b, count)[0])
    whole = pt.kernel("(),(),()->(),()")(skipped)
    observe(whole.program().graph, (1,))
    for count in (0.0, 2.0):
        np.testing.assert_array_equal(whole(a, b, count)[0], alone(a, b, count))


def many(n: int, rng: np.random.Generator):
    """A function of 40 values with n operations, of which each takes any two of what is there."""
    choices = [(rng.integers(40 + k, size=2), rng.integers(3), rng.uniform(0.5, 1.5)) for k in range(n)]

    def function(x):
        values = list(x)
        for (i, j), kind, number in choices:
            a, b = values[i], values[j]
            values.append(a - number * b if kind == 0 else 0.1 * a * b + b if kind == 1 else np.sin(a) + number)
        return np.stack(values[-50:])

    return function


@pytest.mark.parametrize(
    ("seed", "float64"),
    few([(seed, float64) for seed in range(3) for float64 in (True, False)], {(0, True), (1, False)}),
)
def test_long_code_computes_what_numpy_does(seed, float64):
    rng = np.random.default_rng(seed)
    function = many(600, rng)
    x = rng.uniform(-1, 1, (19, 40)).astype(np.float64 if float64 else np.float32)
    expected = np.stack([function(row.astype(np.float64)) for row in x])
    results = pt.kernel("(40)->(50)")(function)(x)
    np.testing.assert_allclose(results, expected, rtol=0, atol=(1e-12 if float64 else 1e-3) * np.abs(expected).max())


@pytest.mark.parametrize(("width", "count"), [(8, 32), (4, 16), (2, 32), (1, 16)])
def test_every_machine_gets_code(width, count):
    program = pt.kernel("(40)->(50)")(many(300, np.random.default_rng(0))).program()
    text = kernel_module(program.graph, program.inputs, program.outputs, Target(width, registers=count))
    assert text.count("alloca") < 400


@pytest.mark.parametrize("counts", ["same", "different"])
def test_loops_that_carry_more_than_there_are_registers(counts):
    """Values that change places, stay, are all replaced by one, or are needed afterwards; counts that differ."""

    def function(n, x, y):
        def body(k, state):
            a, b, c = state
            return b + 0.01 * k * y, a * 0.5 + c[::-1], c

        a, b, c = pt.fori_loop(n, body, (x, x * x, x + y))
        return a + x, b * y, c

    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, (2, 21, 30))
    n = rng.integers(0, 6, 21).astype(float) if counts == "different" else np.full(21, 5.0)

    def reference(n, x, y):
        a, b, c = x, x * x, x + y
        for k in range(int(n)):
            a, b = b + 0.01 * k * y, a * 0.5 + c[::-1]
        return a + x, b * y, c

    results = pt.kernel("(),(30),(30)->(30),(30),(30)")(function)(n, x, y)
    expected = [np.stack(rows) for rows in zip(*(reference(*row) for row in zip(n, x, y, strict=True)), strict=True)]
    for f, e in zip(results, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=0, atol=1e-14)


def test_loops_in_loops_and_calls_with_many_values():
    @pt.once
    def mixed(x, y):
        return np.sin(x) * y + x[::-1], x - y

    def function(x, y):
        def outer(i, state):
            x, y = state
            x, y = mixed(x, y)
            return pt.fori_loop(2, lambda k, s: (s[1] + 0.1 * k, 0.5 * s[0] - x), (x, y))

        return pt.fori_loop(3, outer, (x, y))

    def reference(x, y):
        for _ in range(3):
            x, y = np.sin(x) * y + x[::-1], x - y
            first = x
            for k in range(2):
                x, y = y + 0.1 * k, 0.5 * x - first
        return x, y

    x, y = np.random.default_rng(2).uniform(-1, 1, (2, 17, 33))
    results = pt.kernel("(33),(33)->(33),(33)")(function)(x, y)
    expected = [np.stack(rows) for rows in zip(*(reference(*row) for row in zip(x, y, strict=True)), strict=True)]
    for f, e in zip(results, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=0, atol=1e-14)


def test_an_array_that_lies_in_memory_is_a_result_as_it_is():
    """And a NaN in it is told, as in others."""

    def function(x):
        def body(k, Y):
            for i in range(5):
                Y[i, k] = x[i] * np.sqrt(x[k])
            return Y

        return pt.fori_loop(5, body, np.zeros((5, 5)))

    outer = pt.kernel("(5)->(5,5)")(function)
    x = np.random.default_rng(3).uniform(0, 1, (11, 5))
    np.testing.assert_allclose(outer(x), x[:, :, None] * np.sqrt(x[:, None, :]), rtol=1e-15)
    x[7, 4] = -1
    with pytest.warns(RuntimeWarning, match="invalid"):
        results = outer(x)
    assert np.isnan(results).sum() == 5
    assert np.isnan(results[7, :, 4]).all()


def test_a_carried_value_that_a_call_spills_is_itself_after_the_loop():
    """A call spills all registers; the body reloads the value, and its name is another one then."""

    def function(x):
        weighted = pt.fuse.once(lambda row, s: pt.fori_loop(3, lambda k, total: total + row[k] * s, 0.0))
        total = pt.fori_loop(4, lambda k, s: s + weighted(x * k, s), x[0])
        return total + x[1]

    kernel = pt.kernel("(3)->()")(function)
    x = np.random.default_rng(6).uniform(-1, 1, (11, 3))
    np.testing.assert_allclose(kernel(x), kernel.to("numpy")(x), rtol=1e-14, atol=1e-14)


def test_products_of_large_matrices_are_those_of_numpy():
    A, B = np.random.default_rng(4).standard_normal((2, 6, 11, 13))
    A[:, 3], A[:, :, 5] = 0, 0

    def function(A, B):
        return A @ B.T, np.matmul(B.T * 2.0, A)

    results = pt.kernel("(11,13),(11,13)->(11,11),(13,13)")(function)(A, B)
    np.testing.assert_allclose(results[0], A @ np.swapaxes(B, 1, 2), rtol=0, atol=1e-13)
    np.testing.assert_allclose(results[1], 2 * np.swapaxes(B, 1, 2) @ A, rtol=0, atol=1e-13)
