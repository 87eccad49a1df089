"""One answer: finding it in a reply, grading it, and its outcome."""
