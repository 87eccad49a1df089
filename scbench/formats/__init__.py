"""Input and output formats: predictions, prompts, and files of other programs."""
