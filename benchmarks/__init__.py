"""Speed beside the real MXNet: ``MINIGLUON_ORACLE=/its/python python -m benchmarks``."""
