"""What an interrupted run leaves behind, and how finished rows are put together from it."""
