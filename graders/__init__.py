"""Graders judge: one pure function ``grade(params, answer)`` per task.

No input or output, no clock, no global random state; the same verdict on every machine. A grader
bounds its own work by counting; an answer that exceeds a bound fails the check ``resource_limit``.
What each task asks for, and how its grader differs from the paper's, is in
``dataset_card/tasks/<task>.md``.
"""
