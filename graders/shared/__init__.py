"""Code that several graders share, one module per subject."""
