"""The drawing kit: flat shapes, scenes in space, and the files they become."""
