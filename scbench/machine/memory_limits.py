"""Limits on the address space of a process, on platforms that support them (POSIX)."""

from contextlib import suppress

from scbench.base.errors import MachineError

# Bytes of address space that grading needs. With less, native libraries end the process
# without an error message.
_LEAST_MEMORY = 2 * 2**30


def check_memory() -> None:
    """Check that this process may use enough address space to grade.

    Raises:
        MachineError: its limit is too low.
    """
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and soft < _LEAST_MEMORY:
        raise MachineError(
            f"this process may use only {soft / 2**30:.2g} GiB of address space (ulimit "
            f"-v); grading needs {_LEAST_MEMORY / 2**30:g} GiB"
        )


def limit_memory(memory_bytes: int) -> None:
    """Limit the address space of this process, if the platform supports it."""
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = memory_bytes
    if hard != resource.RLIM_INFINITY:
        soft = min(memory_bytes, hard)
    with suppress(ValueError, OSError):  # some systems know the limit but cannot set it
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
