"""Graders: one pure function ``grade(params, answer)`` per task.

They use no input or output, no clock and no global random state, and give the same
verdict on every machine. A grader bounds its own work by counting; an answer that
exceeds a bound fails the check ``resource_limit``. ``dataset_card/tasks/<task>.md``
describes each task and says how its grader differs from the paper's.
"""
