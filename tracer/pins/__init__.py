"""Pins: which source of an engine is meant by a text, and how it is brought without running any of it."""
