"""Tables, trees, tiles and layouts used in the pictures of tasks."""
