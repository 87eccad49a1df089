"""Other evaluation tools: what plays the benchmark in their own ways, and grades in ours."""
