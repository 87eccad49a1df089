"""One module per task: ``draw(params, answer, verdicts)`` makes its picture."""
