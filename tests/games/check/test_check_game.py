"""The check of a game: silent on correct games, and it names each planted fault."""

import functools
import inspect
from pathlib import Path

import faulty_games
import numba
import numpy as np
import pytest
import sensible_games

from plainzero.compiler.gpu_ptx import missing_compiler
from plainzero.games import make_game
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.check import watchdog
from plainzero.games.check.check_game import Problem, check_game
from plainzero.games.check.problems import Problems
from plainzero.games.check.random_play import play_games
from plainzero.games.check.views import check_set_up

pytestmark = pytest.mark.slow

FAULTS = {
    "ActionTwice": ("legal actions", "twice"),
    "ActionOutOfRange": ("legal actions", "outside 0 to 8"),
    "TooManyActions": ("legal actions", "more than num_actions = 9"),
    "CountsOneTooMany": ("legal actions", "more than num_actions = 9"),
    "NoMoveLeft": ("legal actions", "no legal action although the game is not over"),
    "LegalActionsPlay": ("legal actions", "changes state.board"),
    "HoldsOtherCells": ("cells", "holder says"),
    "TakesTwoCells": ("cells", "move twice at turn"),
    "TakesSomeCells": ("cells", "does not write exactly the free cells at turn 0"),
    "HoldsByAList": ("does not compile", "holder does not compile"),
    "WinsByNothing": ("cells", "winning_cells marks no cell, although player"),
    "WinsByTheLosersCells": ("cells", "which the winner does not hold, although player"),
    "TakesCellsAndDraws": ("cells", "one side wins"),
    "ScoresForTheOther": ("score", "although the first player's return is"),
    "ScoresTooMuch": ("score", "and largest_score is 1"),
    "ScoresAndForgets": ("score", "score changes state.score; only play may"),
    "ScoresThreePlayers": ("score", "score is for two players, not 3"),
    "ScoresByAList": ("does not compile", "score does not compile"),
    "OwnsSmallIntegers": ("compiled differs", "ownership gives another result compiled"),
    "OwnsTwice": ("score", "ownership writes 2 to cell 8; each is from −1 to 1"),
    "OwnsInACorner": ("symmetry", "the ownership is not the turned one"),
    "PlaysOutNothing": ("playout actions", "finds nothing to play"),
    "PlaysOutIllegally": ("playout actions", "not legal, or counts too many: [4]"),
    "PlaysOutTwice": ("playout actions", "writes an action twice"),
    "PlaysOutForGood": ("playout actions", "changes state.board"),
    "PlaysOutTooMany": ("playout actions", "more than num_actions = 9"),
    "PlaysOutByADict": ("does not compile", "playout_actions does not compile"),
    "PlaysOutSmallIntegers": ("compiled differs", "playout_actions compiled writes other actions"),
    "RecognisesTakenCells": (
        "playout actions",
        "is_legal and legal_actions differ on the actions [",
    ),
    "RecognisesOthers": ("playout actions", "is_playout_action and playout_actions differ on"),
    "RecognisesWithoutAList": ("unused rule", "write is_legal instead"),
    "RecognisesForGood": ("playout actions", "is_legal changes state.board"),
    "RecognisesByADict": ("does not compile", "is_legal does not compile"),
    "RecognisesSmallIntegers": ("compiled differs", "is_legal compiled is true of other actions"),
    "PlayerThree": ("player", "to_play is 2 at turn 2"),
    "BothWin": ("zero sum", "add up to 2"),
    "WinsTen": ("returns range", "each must be in [-1, 1]"),
    "ReturnsNotANumber": ("returns range", "nan"),
    "PaysEarly": ("early returns", "the game is not over"),
    "RemembersInModule": ("leak", "remembers earlier games"),
    "RemembersInClass": ("leak", "state.moves"),
    "ResetRemembers": ("leak", "at turn 0"),
    "ThrowsDice": ("random", "play uses random"),
    "SeesAsFirstPlayer": ("side", "whoever is to play"),
    "ConnectFourAsFirst": ("side", "whoever is to play"),
    "BoxesAsFirst": ("side", "whoever is to play"),
    "TrioAsFirst": ("side", "whoever is to play"),
    "SeesNothing": ("observation", "same planes in every position"),
    "SeesNotANumber": ("observation", "NaN"),
    "ObservationPlays": ("observation", "changes state.board"),
    "NoObserve": ("no observe", "has no observe()"),
    "TurnedOntoTwo": ("symmetry", "not a permutation"),
    "TurnedPlanesOnly": ("symmetry", "do not turn the position alike"),
    "TurnedToAnotherShape": ("symmetry", "gives shape (1, 3, 3), not (2, 3, 3)"),
    "UpsideDown": ("symmetry", "do not turn the position alike"),
    "LiesElsewhere": ("board actions", "become different ones under symmetry 0"),
    "LuckTurnedWrongly": ("symmetry", "symmetry 0"),
    "NeverEnds": ("length", "not over after max_turns = 9"),
    "CountsTurns": ("turn", "from 0 to 1"),
    "CoinOnItsEdge": ("chance", "add up to 0.9"),
    "NegativeChance": ("chance", "negative"),
    "TooManyOutcomes": ("chance", "more than max_chance_outcomes = 2"),
    "OutcomeTwice": ("chance", "outcome twice"),
    "NothingHappens": ("chance", "no outcome"),
    "SmallIntegers": ("overflow", "state.sum holds -56 in place of 200"),
    "StoresTooMuch": (
        "overflow",
        "state.score holds -106 in place of 150 after 3 plays: int8",
    ),
    "StoresAWideNumber": ("overflow", "declare a wider type in fields()"),
    "StoresAPythonNumber": ("overflow", "300 out of bounds for uint8; declare a wider type"),
    "OnlyTheFirstMoves": ("player", "player 1 never moves in 20 games"),
    "SkipsThePlayer": ("player", "player 2 never moves in 20 games"),
    "RecursiveRule": ("does not compile", "compiled rules cannot recurse: write a loop"),
    "ChangesAGlobalList": ("does not compile", "so keep what changes in fields()"),
    "IndexesUnequalRows": ("does not compile", "rows of unequal length"),
    "ReplacesTheBoard": ("does not compile", "write into it: `state.board[:] = …`"),
    "RemembersInSelf": ("raises", "play changes self.last at turn 0"),
    "AsksAGenerator": ("does not compile", "uses a generator expression"),
    "BuildsAList": ("gpu", "play builds a list; use a field of fixed size, or a tuple"),
    "BuildsADict": ("gpu", "play builds a dict; use a field of fixed size, or a tuple"),
    "RaisesATextWithANumber": ("gpu", "play raises or catches an error"),
    "MakesATemporaryArray": ("gpu", "play computes with the whole array board; write the loop"),
    "TemporaryInAHelper": ("gpu", "it makes a new array, list or text"),
    "SmallIntegersSeen": ("compiled differs", "observe compiled writes other planes"),
    "UsesADict": ("does not compile", "play does not compile"),
    "ReadsAFile": ("does not compile", "observe does not compile"),
    "ChangesItsType": ("does not compile", "legal_actions does not compile"),
    "FaultInAHelper": ("does not compile", "play does not compile"),
    "CollectsInAList": ("does not compile", "in place of a list"),
    "NamesWhatIsNot": ("does not compile", "self.colour"),
    "ReadsBehindTheBoard": ("raises", "play raises IndexError at turn 4"),
    "ObservesBehindThePlanes": ("raises", "observe raises IndexError"),
    "SameNames": ("names", "both called 'a'"),
    "NamesLeadElsewhere": ("names", "parse_action makes 0"),
    "NamesNoText": ("names", "not a string"),
    "FieldCalledTurn": ("fields", "cannot be called 'turn'"),
    "FieldOfObjects": ("fields", "history has type object"),
    "FieldOfBools": ("fields", "use np.int8"),
    "NoFields": ("fields", "gives no state record"),
    "HalfAnAction": ("declaration", "num_actions must be a positive int"),
    "RaggedView": ("view", "as many actions as cells"),
    "ClicksOutside": ("view", "must be -1 or 0 to 8"),
    "MarksOutside": ("view", "marks (2, 3); a mark is the row and column of a cell of 3x3"),
    "MarksANumber": ("view", "marks 4; a mark is the row and column"),
    "MarksTwice": ("view", "marks a cell twice"),
    "StepsOutside": ("view", "is not an action from cell to cell of 3x3"),
    "SetUpMirrored": ("set up", "is refused: the cell in row"),
    "SetUpForgets": ("set up", "other moves are legal at turn"),
    "SetUpTrips": ("set up", "no field 'pieces'"),
    "RoundLayout": ("view", "layout is 'round'; it must be square, points, hex"),
}

# What looks like a fault on a GPU, where NVIDIA's compiler can remove it: see test_gpu_rules.
GUESSES = ("ComparesTexts", "CallsNumPy")

BUNDLED = [
    "tic-tac-toe",
    "tic-tac-toe(size=4)",
    "connect-four",
    "connect-four(rows=4,cols=5,in_a_row=3)",
    "dots-and-boxes",
    "dots-and-boxes(rows=1,cols=3)",
    "trio",
    "trio(size=5,in_a_row=4)",
    "2048",
    "2048(size=3,target=64)",
]


@functools.cache
def found(name: str) -> list[Problem]:
    if numba.config.DISABLE_JIT and FAULTS[name][0] in ("does not compile", "compiled differs"):
        pytest.skip("this fault shows in compiled code only")
    if name == "TemporaryInAHelper" and missing_compiler():
        pytest.skip("only NVIDIA's compiler finds this fault")
    return check_game(getattr(faulty_games, name)(), seed=1)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_games_have_no_findings(name: str) -> None:
    assert check_game(make_game(name), games=4, seed=1) == []


@pytest.mark.parametrize(
    "game",
    [
        "Nim",
        "TellsSidesByTurn",
        "SideInAPlane",
        "OpponentFirst",
        "Race",
        "ScoreOfItsOwn",
        "RecognisesFreeCells",
    ],
)
def test_unusual_games_in_order_have_no_findings(game: str) -> None:
    assert check_game(getattr(sensible_games, game)(), games=8, seed=1) == []


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_found(name: str) -> None:
    kind, phrase = FAULTS[name]
    problems = found(name)
    assert [problem.kind for problem in problems] == [kind]
    assert phrase in problems[0].message
    assert "\n" not in str(problems[0])
    assert problems[0].severity == ("cpu only" if kind == "gpu" else "error")


def test_every_planted_fault_is_listed() -> None:
    planted = {
        name
        for name, value in vars(faulty_games).items()
        if inspect.isclass(value) and value.__module__ == "faulty_games" and name[0] != "_"
    }
    assert planted == {*FAULTS, *GUESSES}


@pytest.mark.parametrize(
    "name",
    [
        "UsesADict",
        "PlaysOutByADict",
        "ReadsAFile",
        "ChangesItsType",
        "FaultInAHelper",
        "CollectsInAList",
        "NamesWhatIsNot",
        "ReadsBehindTheBoard",
        "ObservesBehindThePlanes",
        "StoresTooMuch",
        "RecursiveRule",
        "ChangesAGlobalList",
        "IndexesUnequalRows",
        "ReplacesTheBoard",
        "RemembersInSelf",
        "AsksAGenerator",
        "BuildsAList",
        "BuildsADict",
        "RaisesATextWithANumber",
        "MakesATemporaryArray",
    ],
)
def test_finding_names_file_and_line_of_the_fault(name: str) -> None:
    source, first = inspect.getsourcelines(getattr(faulty_games, name))
    line = first + next(i for i, text in enumerate(source) if "# fault" in text)
    problems = found(name)
    assert f"faulty_games.py, line {line}" in problems[0].message
    assert str(Path(faulty_games.__file__).parent) not in problems[0].message


@pytest.mark.parametrize("rule", ["reset", "legal_actions", "play", "observe"])
def test_rule_that_never_returns_is_named_with_its_line(monkeypatch, rule: str) -> None:
    monkeypatch.setattr(watchdog, "LIMIT", 0.2)

    def never_returns(self, *arguments):
        try:
            while True:
                pass
        except Exception:  # no rule of its own may stop the watchdog
            pass

    game = type("Endless", (TicTacToe,), {rule: never_returns})()
    (problem,) = check_game(game)
    assert (problem.kind, problem.severity) == ("endless", "error")
    first = inspect.getsourcelines(never_returns)[1]
    assert problem.message.startswith(f"{rule} does not return")
    assert any(f"test_check_game.py, line {first + i}" in problem.message for i in (2, 3))


def test_a_game_for_the_cpu_alone_is_not_checked_for_gpus() -> None:
    class OnCpu(faulty_games.BuildsAList):
        runs_on_gpu = False

    assert check_game(OnCpu(), games=2) == []


def test_same_seed_finds_the_same() -> None:
    game = faulty_games.BothWin()
    assert check_game(game, seed=3) == check_game(game, seed=3)


def test_positions_of_all_a_long_game_are_set_up() -> None:
    class GivesUpLate(TicTacToe):
        size = 7

        def set_up(self, state, cells):
            if sum(text == "." for row in cells for text in row) < 7:
                raise ValueError("too many marks")
            for row, col in np.ndindex(7, 7):
                state.board[row, col] = ".xo".index(cells[row][col])

    problems = Problems(GivesUpLate())
    check_set_up(problems, play_games(problems, 1, seed=0))
    assert ["too many marks" in problem.message for problem in problems] == [True]
