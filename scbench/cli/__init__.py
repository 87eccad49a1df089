"""The commands ``scbench-grade`` and ``scbench``: parse arguments, call functions and print."""
