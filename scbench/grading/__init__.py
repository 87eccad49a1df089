"""From a predictions file to scored rows: reading, finding the answer, judging, the engine."""
