"""A model file says what it holds."""


def test_what_was_trained_is_what_is_shown(run, folder):
    (folder / "fruit.csv").write_text("size,colour,fruit\n1,red,pear\n2,blue,apple\n3,red,pear\n")
    run("train", "fruit.csv", "--C", "7", "--gamma", "0.5")
    found = run("inspect", "fruit.maxmargin", "--json").json
    assert found["machine"] == "SVC"
    assert found["parameters"]["C"] == 7
    assert found["names"] == ["size", "colour"]
    assert found["text"] == {"colour": ["blue", "red"]}
    assert found["classes"] == ["apple", "pear"]
    assert found["notes"]["target"] == "fruit"
    assert found["certificate"]["status"] == "converged"
    shown = run("inspect", "fruit.maxmargin").out
    for word in ("RBF(gamma=0.5)", "OneHotEncoder of 'colour'", "'apple', 'pear'", "converged"):
        assert word in shown
