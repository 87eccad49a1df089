"""The contract between builder and grader: one module per task, with `Params` and `Answer`.

`Params` contains everything a grader uses. All of it is printed in the prompt or follows from the
prompt. `Answer` is the answer that a model must give. Both are frozen pydantic models.
"""
