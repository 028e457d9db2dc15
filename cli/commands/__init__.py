"""The commands of csaw, one file each: options, one call of the engine, and the lines to print about the result."""
