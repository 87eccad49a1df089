"""Workers refuse to grade with another copy of scbench than their parent's."""

import pytest

from scbench.base.errors import EngineError
from scbench.machine.package import PackageCopy, check_same_package, loaded_package
from scbench.machine.processes import WorkerProcesses


def test_copy_of_this_process_is_accepted():
    check_same_package(loaded_package())


def test_another_folder_is_refused_with_both_names():
    copy = loaded_package()._replace(folder="/elsewhere/scbench")
    with pytest.raises(EngineError, match="/elsewhere/scbench"):
        check_same_package(copy)


def test_changed_files_are_refused():
    copy = loaded_package()._replace(digest="0" * 64)
    with pytest.raises(EngineError, match="changed while it was running"):
        check_same_package(copy)


def test_worker_compares_copies_first():
    pool = WorkerProcesses(1)
    try:
        assert pool.submit(abs, -1).result() == 1
        pool._package = PackageCopy("/elsewhere", "")
        with pytest.raises(EngineError, match="/elsewhere"):
            pool.submit(abs, -1).result()
    finally:
        pool.close()
