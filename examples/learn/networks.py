"""The small networks of the learners in this folder."""

from torch import nn


def network(inputs: int, outputs: int, width: int, gain: float, activation: type[nn.Module]) -> nn.Sequential:
    """Two hidden layers with orthogonal weights, those of the last layer scaled by `gain`, and biases of zero."""
    layers = nn.Linear(inputs, width), nn.Linear(width, width), nn.Linear(width, outputs)
    for layer, g in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, g)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], activation(), layers[1], activation(), layers[2])
