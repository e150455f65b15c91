"""The graph: hash-consing, constant folding, dead code elimination; and the grammar that `verify` checks."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from fuse_models import articulated_body, random_chain

from poinsot.fuse import fori_loop, gradient, hessian, jacobian, jvp, kernel, once, vjp
from poinsot.fuse.graph.build import RULES, build
from poinsot.fuse.graph.nodes import Graph, Node, tracing_into
from poinsot.fuse.graph.ops import OPS
from poinsot.fuse.graph.verify import verify


@pytest.fixture
def graph():
    with tracing_into(Graph()) as graph:
        yield graph


@pytest.fixture
def x(graph):
    return graph.param("f")


@pytest.fixture
def y(graph):
    return graph.param("f")


@pytest.fixture
def i(graph):
    return graph.param("i")


def test_every_node_is_built_once(x, y, i):
    for op in ("add", "mul"):
        assert build(op, x, y) is build(op, y, x)
    assert build("add", x, 2.0) is build("add", 2.0, x)
    assert build("sub", x, y) is not build("sub", y, x)
    assert build("sin", x) is build("sin", x)
    assert build("sin", x) is not build("sin", y)
    assert build("add", i, 1) is build("add", i, 1)


# What an operation simplifies to, written with strings: "x", "y" are floats, "i" an integer, "c" a condition.
SIMPLER = {
    "add x 0.0": "x", "add 0.0 x": "x", "sub x 0.0": "x", "sub 0.0 x": "neg x", "sub x x": 0.0,
    "add x (neg y)": "sub x y", "add (neg x) y": "sub y x", "sub x (neg y)": "add x y",
    "sub (neg x) y": "neg (add x y)", "sub x 2.5": "add x -2.5", "mul x 0.0": 0.0, "mul 0.0 x": 0.0, "mul x 1.0": "x",
    "mul 1.0 x": "x", "mul x -1.0": "neg x", "mul (neg x) y": "neg (mul x y)", "mul (neg x) (neg y)": "mul x y",
    "mul (neg x) 2.0": "mul x -2.0", "div 0.0 x": 0.0, "div x 1.0": "x", "div x 4.0": "mul x 0.25",
    "div x -0.5": "mul x -2.0", "div x x": 1.0, "div (neg x) y": "neg (div x y)", "div x (neg y)": "neg (div x y)",
    "neg (neg x)": "x", "neg (sub x y)": "sub y x", "abs (neg x)": "abs x", "abs (abs x)": "abs x",
    "cos (neg x)": "cos x", "sin (neg x)": "neg (sin x)", "tan (neg x)": "neg (tan x)",
    "arctan (neg x)": "neg (arctan x)", "cosh (neg x)": "cosh x", "power x 0.0": 1.0, "power x 1.0": "x",
    "power x 2.0": "mul x x", "power x 3.0": "mul (mul x x) x", "power x 0.5": "sqrt x",
    "power x 4.0": "mul (mul x x) (mul x x)", "power x -1.0": "div 1.0 x", "power x -2.0": "div 1.0 (mul x x)",
    "minimum x x": "x", "maximum x x": "x", "fma 0.0 x y": "y", "fma x 1.0 y": "add x y", "fma x y 0.0": "mul x y",
    "where c x x": "x", "where True x y": "x", "where False x y": "y", "where c 2.0 2.0": 2.0,
    "where (not c) x y": "where c y x", "not (not c)": "c", "and c True": "c", "and c False": False,
    "or c False": "c", "or True c": True, "and c c": "c", "or c c": "c", "to_float x": "x", "to_int i": "i",
    "truth c": "c", "mul i 0": 0, "mul i 1": "i", "add i 0": "i", "sub i i": 0, "mul i 1.0": "to_float i",
    "to_float (to_int x)": "to_float (to_int x)",
}  # fmt: skip


@pytest.mark.parametrize("left", SIMPLER, ids=str)
def test_simplifications(left, graph, x, y, i):
    names = {"x": x, "y": y, "i": i, "c": build("less", x, y), "True": True, "False": False}

    def evaluate(text):
        """Polish notation with parentheses."""
        if not isinstance(text, str):
            return text
        words, depth = [""], 0
        for letter in text:
            depth += (letter == "(") - (letter == ")")
            if letter == " " and depth == 0:
                words.append("")
            else:
                words[-1] += letter
        if len(words) == 1:
            word = words[0]
            return evaluate(word[1:-1]) if word[0] == "(" else names[word] if word in names else eval(word)
        return build(words[0], *map(evaluate, words[1:]))

    got, want = evaluate(left), evaluate(SIMPLER[left])
    assert got is want if isinstance(want, Node) else (got == want and type(got) is type(want))


def test_what_must_not_be_simplified(x):
    """Rules never change a result by rounding: a third is not a factor, and zeros keep their sign."""
    assert build("div", x, 3.0).op == "div"
    assert build("sub", build("add", x, 1.0), 1.0) is not x
    graph = x.graph
    assert graph.constant(0.0, "f") is not graph.constant(-0.0, "f")
    assert graph.constant(1.0, "f") is not graph.constant(1, "i")
    assert graph.constant(1, "i") is not graph.constant(True, "b")
    assert graph.constant(np.nan, "f") is graph.constant(-np.nan, "f")


@pytest.mark.parametrize("op", sorted(set(RULES) & set(OPS)))
def test_rules_hold_for_known_numbers(op, graph):
    """Folding an operation gives what the operation gives on an array."""
    arity = len(inspect.signature(RULES[op]).parameters)
    kinds = {"and": bool, "or": bool, "not": bool}.get(op, float)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        args = [kinds(a) for a in rng.uniform(0.1, 0.9, arity)]
        args = [args[0] > 0.5, *args[1:]] if op == "where" else args
        want = OPS[op].evaluate(*(np.array([a]) for a in args))
        got = build(op, *args)
        assert not isinstance(got, Node)
        assert np.allclose(got, want, rtol=1e-15)


def test_what_differs_in_sign_is_computed_once():
    differences = kernel("(),()->(2)")(lambda x, y: np.stack([(x - y) * y, np.exp(x) - (y - x) * x]))
    assert differences.count() == {"sub": 1, "mul": 2, "exp": 1, "add": 1}
    products = kernel("(),()->(3)")(lambda x, y: np.stack([3.0 * x + y, y - x * 3.0, x * -3.0 - y * y]))
    assert products.count() == {"mul": 2, "add": 2, "sub": 1, "neg": 1}
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    for k in (differences, products):
        np.testing.assert_allclose(k(x, y), np.moveaxis(k.function(x, y), 0, -1), rtol=1e-14, atol=1e-15)


def test_dead_code_is_gone():
    def f(x, y):
        np.exp(x)  # never used
        waste = fori_loop(10, lambda i, c: np.sin(c), y)
        return np.where(True, x * 2, waste) + 0 * np.tan(y)

    assert kernel("(),()->()")(f).count() == {"mul": 1}


def test_counts_are_by_kind_and_bodies_count_once():
    def f(x):
        g = once(lambda a: np.sin(a) * a)
        return g(g(x)) + fori_loop(7, lambda i, c: np.cos(c) * g(c), x)

    # `g` is traced once for the kernel and the body of its loop.
    assert kernel("()->()")(f).count() == {"sin": 1, "mul": 2, "call": 3, "loop": 1, "cos": 1, "add": 1}


def programs():
    links = random_chain(3)

    def loops(v):
        def body(i, c):
            A, s = c
            A[i] = s * A[i - 1]
            return A, s + A[i] * v[0]

        A, s = fori_loop(3, body, (v * 1, v[1]))
        return s + A @ A

    def calls(v):
        f = once(lambda a: np.where(a > 0, np.sqrt(np.abs(a)), a * v[0]))
        return f(f(v[1])) * f(v[2])

    yield "aba", "(3)->()", lambda q: articulated_body(links, q, q * 2, np.ones(3)).sum()
    yield "loops", "(3)->()", loops
    yield "calls", "(3)->()", calls
    yield "solve", "(3)->()", lambda v: np.linalg.solve(np.outer(v, v) + np.diag(v), v).sum()


@pytest.mark.parametrize(("name", "text", "function"), list(programs()), ids=lambda x: x if isinstance(x, str) else "")
def test_every_pass_gives_a_well_formed_graph(name, text, function):
    k = kernel(text)(function)
    passes = [k, jvp(k), vjp(k), jacobian(k), gradient(k)] + ([] if name == "aba" else [hessian(k)])
    for p in passes:
        graph = verify(p.program().graph)
        clone = pickle.loads(pickle.dumps(graph))
        assert verify(clone).count() == graph.count()


def malformed():
    """(what is wrong, how to make it wrong) for the graph of x*y + 2 and a loop."""

    def swap_order(graph):
        graph.nodes.reverse()

    def unknown_operation(graph):
        next(n for n in graph.nodes if n.op == "mul").op = "nonsense"

    def wrong_type(graph):
        next(n for n in graph.nodes if n.op == "mul").type = "i"

    def mixed_arguments(graph):
        node = next(n for n in graph.nodes if n.op == "mul")
        node.args = (node.args[0], graph.constant(1, "i"))

    def later_argument(graph):
        node = next(n for n in graph.nodes if n.op == "mul")
        node.args = (node.args[0], graph.nodes[-1])

    def foreign_argument(graph):
        node = next(n for n in graph.nodes if n.op == "mul")
        node.args = (node.args[0], copy.copy(Graph().param("f")))

    def foreign_output(graph):
        graph._outputs = [Graph().param("f")]

    def constant_of_other_type(graph):
        next(n for n in graph.nodes if n.op == "const" and n.type == "f").data = 2

    def projection_of_nothing(graph):
        graph._append("proj", (graph.params[0],), "f", 0)

    def projection_of_other_type(graph):
        next(n for n in graph.nodes if n.op == "proj").type = "i"

    def loop_without_count(graph):
        node = next(n for n in graph.nodes if n.op == "loop")
        node.args = node.args[1:]

    def broken_body(graph):
        body = next(n for n in graph.nodes if n.op == "loop").data
        next(n for n in body.nodes if n.op == "mul").type = "b"

    def short_table(graph):
        graph._append("table", (), ("f", 3), (1.0, 2.0))

    def array_of_other_type(graph):
        graph._append("array", (graph.params[0],), ("i", 1))

    def read_at_a_float(graph):
        table = graph._append("table", (), ("f", 2), (1.0, 2.0))
        graph._append("get", (table, graph.params[0]), "f")

    def write_of_other_type(graph):
        table = graph._append("table", (), ("f", 2), (1.0, 2.0))
        graph._append("set", (table, graph.constant(0, "i"), graph.constant(0, "i")), ("f", 2))

    return {name: f for name, f in locals().items() if callable(f)}


@pytest.mark.parametrize("damage", malformed().values(), ids=malformed())
def test_malformed_graphs_are_caught(damage):
    k = kernel("(),()->()")(lambda x, y: fori_loop(3, lambda i, c: c * y, x * y + 2.0))
    graph = verify(k.program().graph)
    damage(graph)
    with pytest.raises(AssertionError, match="is malformed"):
        verify(graph)
