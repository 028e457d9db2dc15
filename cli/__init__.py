"""Commands, one file each: parse options, call the engine, print. No logic."""
