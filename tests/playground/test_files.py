"""What goes in and out of the page: CSV, pictures, addresses."""

import pytest

from maxmargin.playground.presets import points as preset

SQUARE = [[-1.0, -1.0, 0], [-1.0, 1.0, 0], [1.0, -1.0, 1], [1.0, 1.0, 1]]
CSV = "x,y,class\n" + "\n".join(",".join(map(str, point)) for point in SQUARE)

DROP = """(text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "points.csv", { type: "text/csv" }));
  document.querySelector(".plane").dispatchEvent(
    new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""

PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text", text);
  document.body.dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""


@pytest.mark.parametrize("way", [DROP, PASTE], ids=["drop", "paste"])
def test_a_csv_becomes_points(playground, way):
    playground.refit(lambda: playground.page.evaluate(way, CSV))
    assert playground.points == SQUARE


def test_a_csv_with_names_and_far_numbers_is_scaled_into_the_square(playground):
    text = "length;width;kind\n10;100;rose\n20;300;tulip\n30;200;rose"
    playground.refit(lambda: playground.page.evaluate(DROP, text))
    points = playground.points
    assert [point[2] for point in points] == [0, 1, 0]
    assert all(abs(value) <= 3 for x, y, _ in points for value in (x, y))
    assert points[1][0] == 0
    assert points[0][0] == -points[2][0]
    assert "scaled" in playground.page.locator(".message").inner_text()


@pytest.mark.parametrize("text", ["", "x,y", "1,2,a\n3,four,b"])
def test_a_bad_csv_is_refused_in_words(playground, text):
    before = playground.points
    playground.page.evaluate(PASTE, text or " ")
    playground.page.locator(".message.problem", has_text="could not be read").wait_for()
    assert playground.points == before


def test_points_and_picture_can_be_taken_home(playground, tmp_path):
    playground.draw(SQUARE)
    with playground.page.expect_download() as waiting:
        playground.control("save-points").click()
    waiting.value.save_as(tmp_path / "points.csv")
    assert (tmp_path / "points.csv").read_text().strip() == CSV.replace(".0", "")
    with playground.page.expect_download() as waiting:
        playground.control("save-png").click()
    waiting.value.save_as(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_shared_address_restores_the_page(open_page):
    first = open_page("C=20&kernel=laplacian&gamma=0.5")
    first.draw(preset("spirals", 60, 0.1, seed=4).as_json())
    first.control("layer-shade").click()
    first.settle()
    first.control("share").click()
    address = first.page.locator("input[name=address]").input_value()
    second = open_page(address.partition("#")[2])
    second.settle()
    assert second.points == first.points
    state = "(app) => [app.store.state.settings, app.store.state.layers]"
    assert second.run(state) == first.run(state)
    assert second.picture() == first.picture()
    assert second.certificate() == first.certificate()


def test_what_a_teacher_hides_stays_hidden(open_page):
    teacher = open_page()
    teacher.control("share").click()
    for name in ("data", "gamma", "code", "mode"):
        teacher.page.locator(f".hidables input[value={name}]").check()
    address = teacher.page.locator("input[name=address]").input_value()
    student = open_page(address.partition("#")[2])
    for name in ("data", "gamma", "code", "mode"):
        assert not student.control(name).is_visible()
    assert student.control("C").is_visible()
    student.page.locator("input[name=C]").focus()
    student.refit(lambda: student.page.keyboard.press("ArrowRight"))
    student.page.select_option("select[name=kind]", "nu-svc")
    student.settle()
    assert not student.control("gamma").is_visible()
    student.wait("() => location.hash.includes('nu-svc')")
    student.page.reload()
    student.wait("() => document.querySelector('.playground').dataset.fits > 0")
    assert not student.control("data").is_visible()


def test_of_an_address_that_was_tampered_with_the_rest_counts(open_page):
    page = open_page("machine=oracle&C=1e99&gamma=2&points=%%%&mode=nowhere&preset=x,1,2,3")
    settings = page.run("(app) => app.store.state.settings")
    assert (settings["machine"], settings["C"], settings["gamma"]) == ("svc", 1, 2)
    assert len(page.points) == 100
    assert page.certificate()["gap"] < 1e-3
