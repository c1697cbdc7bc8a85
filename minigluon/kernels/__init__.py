"""Functions on arrays and storages that do the work; they know no NDArray, context or Symbol."""
