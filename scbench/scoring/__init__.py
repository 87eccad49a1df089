"""One answer: finding it in a reply, judging it, and its outcome."""
