"""The live panel of `plainzero train`."""

from plainzero import make_game
from plainzero.cli.terminal.training_view import TrainingView
from plainzero.training.loop import Limits
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import default_config


def test_an_echoed_interrupt_fits_beside_the_panel(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    game = make_game("tic-tac-toe")
    limits = Limits(60.0, 0)
    view = TrainingView(RunFolder(tmp_path), game, default_config(game), "cpu", limits, True)
    with view.console.capture() as capture:
        view.console.print(view._draw())
    assert {len(line.rstrip()) for line in capture.get().splitlines()} == {78}
