"""The intermediate representation: a scalar graph, its operations, and the rules that simplify it."""

from poinsot.fuse.graph.nodes import Node
from poinsot.fuse.graph.operators import OPERATORS

# `build` needs `Node`, and Python's operators on nodes need `build`: here the two meet.
for _name, _method in OPERATORS.items():
    setattr(Node, _name, _method)
