"""The grammar of graphs: the rules of a well-formed one, checked node by node."""

from poinsot.fuse.graph.nodes import PYTHON, Graph, Node
from poinsot.fuse.graph.ops import OPS, STRUCTURE

_SCALARS = ("f", "i", "u", "b")


def verify(graph: Graph) -> Graph:
    """The graph itself, if it and its subgraphs are well formed; otherwise an error that names the node."""
    for place, node in enumerate(graph.nodes):
        _require(node.graph is graph and node.index == place, node, "has its own place in its own graph")
        _require(node.op in OPS or node.op in STRUCTURE, node, "is an operation of the table")
        for arg in node.args:
            _require(arg.graph is graph and arg.index < node.index, node, "uses only earlier nodes of its own graph")
        if node.op in OPS:
            types = tuple(arg.type for arg in node.args)
            wanted, result = OPS[node.op].types(*types)
            matches = all(w in ("?", t) for w, t in zip(wanted, types, strict=True))
            _require(matches and node.type == result, node, f"takes {wanted} and gives {result}")
        else:
            _structure(node)
    for param in graph.params:
        _require(param.op == "param" and param.graph is graph, param, "is a parameter")
    for output in graph.outputs:
        _require(output.graph is graph, output, "is a node of the graph whose output it is")
    for inner in graph.subgraphs():
        verify(inner)
    return graph


def _structure(node: Node) -> None:
    types = [arg.type for arg in node.args]
    if node.op == "const":
        _require(type(node.data) is PYTHON[node.type], node, "holds a Python number of its own type")
    elif node.op == "table":
        _require(len(node.data) == node.size, node, "has as many entries as its type says")
    elif node.op == "array":
        _require(types == [node.element] * node.size, node, "gathers scalars of its own type")
    elif node.op == "get":
        _require(node.args[0].element == node.type and types[1] == "i", node, "reads an array at an integer")
    elif node.op == "set":
        _require(types == [node.type, "i", node.element], node, "writes a scalar into an array at an integer")
    elif node.op == "proj":
        source = node.args[0]
        _require(source.op in ("loop", "call", "slow_path"), node, "takes a result of a loop, call or slow path")
        _require(source.data.outputs[node.data].type == node.type, node, "is of the type of that result")
    elif node.op == "loop":
        carried = [out.type for out in node.data.outputs]
        captured = [param.type for param in node.data.captures.values()]
        _require(types == ["i", *carried, *captured], node, "starts with a count, the carried and the captured values")
        _require([p.type for p in node.data.params] == types, node, "has a body with these parameters")
        goes_on = node.data.condition
        _require(goes_on is None or goes_on.type == "b", node, "goes on while a truth value says so")
    elif node.op == "call":
        _require([p.type for p in node.data.params] == types, node, "passes its callee arguments of the right types")
    elif node.op == "slow_path":
        fast, inputs = ([n.type for n in nodes] for nodes in (node.data.outputs, node.data.params))
        _require(types == ["b", *fast, *inputs], node, "has a mask, the results of the fast path, and arguments")
    else:
        _require(node.type in _SCALARS or isinstance(node.type, tuple), node, "has a type")


def _require(holds: bool, node: Node, what: str) -> None:
    if not holds:
        raise AssertionError(f"graph {node.graph.name!r}: node {node!r} is malformed; every {node.op} {what}")
