"""Bridges."""
