"""The commands ``scbench-grade`` and ``scbench``. Thin: parse, call, print."""
