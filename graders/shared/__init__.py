"""What several graders use, one module per subject."""
