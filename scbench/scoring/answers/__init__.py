"""Finding the answer in a model's reply."""
