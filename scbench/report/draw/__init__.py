"""The drawing kit: flat shapes, 3D scenes, and output files."""
