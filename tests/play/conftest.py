"""A server of the page, and a browser."""

import shutil

import pytest
from play_commands import play_server


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a running ``scbench play``."""
    with play_server(tmp_path_factory.mktemp("play")) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = shutil.which("chromium")
    driver = shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip("there is no Chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--window-size=1360,2400"):
        options.add_argument(argument)
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield window
    window.quit()
