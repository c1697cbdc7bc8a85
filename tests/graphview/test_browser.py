"""The page in a real browser: MINIGLUON_BROWSER names its program, and playwright drives it."""

import os

import pytest

import minigluon as mx

playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
pytestmark = pytest.mark.slow

#: a browser that asks nobody for anything
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser():
    program = os.environ.get("MINIGLUON_BROWSER")
    if not program:
        pytest.skip("MINIGLUON_BROWSER is not set")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=OPTIONS)
        yield opened
        opened.close()


@pytest.fixture
def shown(browser, tmp_path):
    data = mx.sym.var("data", stype="csr")
    weight = mx.sym.var("weight", stype="row_sparse", shape=(100, 2))
    net = mx.sym.softmax(mx.sym.sparse.dot(data, weight, name="score"), name="chance")
    file = mx.viz.html(net, shape={"data": (4, 100)}).save(tmp_path / "net.html")
    page = browser.new_page()
    page.faults = []
    page.on("pageerror", lambda fault: page.faults.append(str(fault)))
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert page.faults == []
    assert page.asked == [file.as_uri()]
    page.close()


def view(page):
    return [float(x) for x in page.get_attribute("#graph", "viewBox").split()]


def test_a_click_tells_all_about_a_node(shown):
    shown.locator(".box", has_text="score").first.click()
    told = shown.inner_text("#details")
    assert "dot, fcompute_ex" in told
    assert "row_sparse" in told


def test_the_search_finds_and_goes_from_one_to_the_next(shown):
    shown.fill("#search", "softmax")
    assert shown.locator(".box.found").count() == 1
    shown.keyboard.press("Enter")
    assert shown.inner_text("#details").startswith("chance")


def test_wheel_and_buttons_zoom_and_dragging_moves(shown):
    whole = view(shown)
    shown.mouse.move(300, 300)
    shown.mouse.wheel(0, -200)
    near = view(shown)
    assert near[2] < whole[2]
    shown.mouse.down()
    shown.mouse.move(350, 380, steps=4)
    shown.mouse.up()
    moved = view(shown)
    assert moved[2] == near[2]
    assert moved[:2] != near[:2]
    shown.click("#fit")
    assert view(shown) == whole
