"""A server of the page, and a browser."""

import re
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a running ``scbench play``."""
    code = "from scbench.cli.main import run; run()"
    command = (sys.executable, "-c", code, "play", "--no-browser")
    server = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path_factory.mktemp("play"),
    )
    yield re.search(r"http://\S+", server.stderr.readline())[0]
    server.terminate()
    server.wait(timeout=60)
    server.stderr.close()


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
    window = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(driver)
    )
    yield window
    window.quit()
