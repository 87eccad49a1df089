"""Templates of the dataset card, and one short text per task."""
