from gode_bench import startup


def test_a_checkout_beside_itself_costs_the_same(monkeypatch):
    monkeypatch.setattr(
        startup, "WARM", {"discovery": ["import gode"], "fleet": ["0"], "fleet's parent": ["0"]}
    )
    (here, there) = startup.compare(startup.HERE, turns=3, cold=False)["discovery"]
    assert 0.2 < here / there < 5
    assert there > 0.01


def test_the_code_of_the_checkout_is_run(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "only_there.py").write_text("x = sum(i for i in range(2_000_000))\n")
    spent = startup.processor_seconds(tmp_path, ["import only_there"])
    assert spent > startup.processor_seconds(tmp_path, ["0"])
