"""The report in headless Chromium: nothing breaks, nothing is loaded, everything is reachable."""

import pytest
from bounds import until

from scbench.catalog import get_task
from scbench.report.picture import draw_of

pytestmark = pytest.mark.slow


def items_shown(driver) -> int:
    return driver.execute_script(
        "return [...document.querySelectorAll('.item')].filter(item => !item.hidden).length"
    )


def choose(driver, name: str, value: str) -> None:
    """Set a filter like a person, and wait until it has been applied."""
    driver.execute_script(
        "const field = document.querySelector(`form [name=${arguments[0]}]`);"
        "field.value = arguments[1]; field.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        value,
    )
    filtered(driver)


def filtered(driver) -> None:
    """Wait until filters are applied, shortly after the last change of one."""
    # The page's own timer was set before and runs out before this one, however busy the machine.
    driver.execute_async_script("setTimeout(arguments[0], 121)")


def press(driver, element) -> None:
    """Click an element anywhere on the page."""
    # Content that scrolls into view may be drawn late and move the rest: wait for a stable page.
    driver.execute_async_script(
        "const [element, done] = arguments;"
        "element.scrollIntoView({block: 'center'});"
        "requestAnimationFrame(() => requestAnimationFrame(() => {"
        "  element.scrollIntoView({block: 'center'}); requestAnimationFrame(() => done()); }));",
        element,
    )
    element.click()


def wait_for(driver, script: str, *args) -> None:
    until(lambda: driver.execute_script(f"return {script}", *args))


def test_report_opens_filters_and_shows_every_task(
    browser, whole_report, small, tmp_path, ungraded
):
    browser.open(whole_report)
    driver = browser.driver
    everything = 2 * len(small.held)
    assert items_shown(driver) == everything
    choose(driver, "run", "2")
    assert items_shown(driver) == everything // 2
    choose(driver, "result", "short")
    assert items_shown(driver) == everything // 2, (
        "every counter-reference is short of full marks"
    )
    choose(driver, "bucket", "planning")
    assert 0 < items_shown(driver) < everything // 2
    assert "bucket=planning" in driver.current_url
    choose(driver, "min", "0.9999")
    assert items_shown(driver) == 0
    assert driver.find_element("css selector", ".count").text.startswith("0 of")
    driver.find_element("css selector", "form [type=reset]").click()
    filtered(driver)
    assert items_shown(driver) == everything
    for name in small.held:
        task = name.split("/")[0]
        choose(driver, "task", task)
        assert items_shown(driver) == 2
        item = driver.find_elements("css selector", f".item[data-task={task}]")[1]
        item.find_element("css selector", "summary").click()
        driver.execute_script("arguments[0].scrollIntoView()", item)
        wait_for(driver, "!arguments[0].querySelector('script.drawing')", item)
        views = item.find_elements("css selector", ".stage svg")
        problems = item.find_elements("css selector", ".no-picture")
        drawn = draw_of(get_task(task)) is not None
        assert bool(views) == drawn, (task, [problem.text for problem in problems])
        assert all(view.size["width"] > 100 for view in views), task
        failed = item.find_elements("css selector", ".checks .failed")
        assert bool(failed) == (task not in ungraded), task
        assert len(browser.shot(tmp_path / f"{task}.png")) > 5_000
        item.find_element("css selector", "summary").click()
    assert browser.errors() == []
    assert browser.requests() == []


def test_view_can_be_turned(browser, whole_report, tmp_path):
    from selenium.webdriver import ActionChains  # noqa: PLC0415  (wanted by few tests)
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    browser.open(whole_report)
    driver = browser.driver
    items = driver.find_elements("css selector", ".item:has(.turn)")
    assert items, "no item has a view in three dimensions"
    for item in items[:6]:  # more than a page keeps alive at a time
        driver.execute_script("arguments[0].open = true", item)
        press(driver, item.find_element("css selector", ".turn"))
        wait_for(driver, "arguments[0].querySelector('.canvas canvas')", item)
        wait_for(
            driver,
            "arguments[0].querySelector('.turn').textContent == 'Back to the picture'",
            item,
        )
    assert len(driver.find_elements("css selector", ".canvas")) == 4
    canvas = items[5].find_element("css selector", ".canvas")
    camera = "document.querySelectorAll('.canvas')[3]._fullLayout.scene._scene.getCamera().eye.x"
    before = driver.execute_script(f"return {camera}")
    first = browser.shot(tmp_path / "before.png")
    ActionChains(driver).drag_and_drop_by_offset(canvas, 60, 20).perform()
    wait_for(driver, f"{camera} !== {before}")
    assert browser.shot(tmp_path / "after.png") != first
    dragged = driver.execute_script(f"return {camera}")
    canvas.send_keys(Keys.ARROW_LEFT)
    wait_for(driver, f"{camera} !== {dragged}")
    press(driver, items[5].find_element("css selector", ".turn"))
    assert len(driver.find_elements("css selector", ".canvas")) == 3
    press(driver, items[4].find_element("css selector", "summary"))
    wait_for(driver, "document.querySelectorAll('.canvas').length === 2")
    assert browser.errors() == []
    assert browser.requests() == []


def test_keyboard_is_enough(browser, whole_report):
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    browser.open(whole_report)
    driver = browser.driver
    body = driver.find_element("css selector", "body")
    body.send_keys(Keys.TAB)
    assert driver.switch_to.active_element.text == "Skip to content"
    search = driver.find_element("css selector", "form [type=search]")
    search.send_keys("csg_union/00 right")
    wait_for(driver, "document.querySelector('.count').textContent.startsWith('1 of')")
    for _ in range(12):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        if driver.switch_to.active_element.tag_name == "summary":
            break
    summary = driver.switch_to.active_element
    assert "csg_union/00" in summary.text
    assert driver.execute_script(
        "return getComputedStyle(arguments[0]).outlineStyle", summary
    ) != ("none")
    summary.send_keys(Keys.ENTER)
    assert driver.execute_script("return arguments[0].parentElement.open", summary)
    for _ in range(4):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        if driver.switch_to.active_element.get_attribute("class") == "turn":
            break
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    wait_for(driver, "document.querySelector('.canvas canvas')")
    wait_for(driver, "document.activeElement.className.includes('canvas')")


def test_texts_and_pictures_work_without_scripts(browser, whole_report):
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415  (wanted by few tests)

    driver = browser.driver
    browser.scripts(run=False)
    try:
        browser.open(whole_report)
        summary = driver.find_element("css selector", "#two_segments-00-run2 summary")
        summary.send_keys(Keys.ENTER)
        item = driver.find_element("css selector", "#two_segments-00-run2")
        assert item.find_element("css selector", ".stage svg").is_displayed()
        assert "✗" in item.text
        assert not driver.find_element("css selector", "form.filters").is_displayed()
        assert not item.find_element("css selector", ".copy").is_displayed()
        assert browser.requests() == []
    finally:
        browser.scripts(run=True)
