"""Which device a run takes, and how fast this machine's are."""
