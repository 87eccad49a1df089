"""What the pictures of several tasks use."""
