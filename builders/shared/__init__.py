"""Code that several builders share, one module per subject."""
