"""The commands of csaw, a file each: options, one call of the engine, what is said of the result."""
