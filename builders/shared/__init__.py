"""What several builders use, one module per subject."""
