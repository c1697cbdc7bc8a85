"""From graphs to straight-line functions: the text is emitted once and then just runs."""
