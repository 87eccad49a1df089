"""Tables, trees, tiles and layouts that the pictures of tasks are made of."""
