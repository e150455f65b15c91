"""Sums over elements that join a few nodes each, in one compiled loop."""
