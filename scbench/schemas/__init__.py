"""The contract between builder and grader: one module per task, with `Params` and `Answer`.

`Params` is everything a grader uses, and all of it is printed in the prompt or follows from what is
printed. `Answer` is the answer that a model must give. Both are frozen pydantic models.
"""
