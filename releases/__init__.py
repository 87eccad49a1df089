"""What was frozen: one folder per version, never edited once published."""
