"""Packages whose names are imported at first use."""

from importlib import import_module

import pytest


@pytest.mark.parametrize("package", ["scbench", "scbench.analysis", "scbench.report"])
def test_every_name_exists_and_others_do_not(package):
    module = import_module(package)
    assert all(hasattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute"):
        _ = module.no_such_name
