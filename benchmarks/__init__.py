"""Speed beside other packages: ``python -m benchmarks``; each runs in a process of its own."""
