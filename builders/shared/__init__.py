"""The parts that several builders use, one module per subject."""
