"""One answer: find it in a reply, judge it, say what came of it."""
