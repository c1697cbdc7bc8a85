"""Measurements beside the real MXNet: ``MINIGLUON_ORACLE=/path/to/its/python python -m benchmarks``."""
