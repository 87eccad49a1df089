"""From a predictions file to scored rows: chunks, workers, checkpoint, and the run itself."""
