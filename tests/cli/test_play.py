"""`plainzero play`: whole games over stdin."""

import itertools
import re

import pytest

from plainzero import CHANCE, make_game


def test_scripted_game_is_played_to_its_end(plainzero):
    typed = "\n".join(f"{col}{row}" for row in "123" for col in "abc") + "\n"
    options = ("--simulations", "200", "--evaluator", "rollout")
    code, out, err = plainzero("play", "tic-tac-toe", *options, typed=typed)
    assert (code, err) == (0, "")
    assert "tic-tac-toe: you are the first player (x)" in out
    assert re.search(r"search plays [abc][123]  expects [+-]\d\.\d\d · line ", out)
    assert out.rstrip().split("\n")[-1] in ("A draw.", "The search wins.", "You win!")
    assert "[o]" in out  # its last move


@pytest.mark.parametrize("side", ["first", "second"])
def test_search_punishes_a_player_who_does_not_see(plainzero, side):
    typed = "1\n7\n" * 21
    options = ("--side", side, "--simulations", "3000", "--evaluator", "rollout")
    code, out, _ = plainzero("play", "connect-four", *options, typed=typed)
    assert code == 0 and out.endswith("The search wins.\n")


def test_player_who_moves_again_is_asked_again(plainzero):
    game = make_game("dots-and-boxes")
    typed = "\n".join(map(game.action_name, range(game.num_actions))) + "\n"
    options = ("--simulations", "400", "--evaluator", "rollout")
    code, out, _ = plainzero("play", game.name, *options, typed=typed * 12)
    turns = re.split(r"^(?=your move> |search plays )", out, flags=re.MULTILINE)[1:]
    movers = [turn.split()[0] for turn in turns if "is not legal" not in turn]
    assert code == 0 and len(movers) == game.num_actions
    assert {("your", "your"), ("search", "search")} <= set(itertools.pairwise(movers))


def test_other_seats_are_played_by_the_search(plainzero):
    names = [f"{col}{row}" for row in "1234" for col in "abcd"]
    options = ("--side", "third", "--simulations", "200")
    code, out, _ = plainzero("play", "trio", *options, typed="\n".join(names) + "\n")
    assert code == 0 and "you are the third player (z)" in out
    assert "first player plays" in out and "second player plays" in out
    assert "third player plays" not in out
    assert re.search(r"(The (first|second) player wins\.|You win!|A draw\.)\n$", out)


def test_one_player_with_chance(plainzero):
    typed = "up\nright\ndown\nleft\n" * 200
    game = "2048(size=2,target=32)"
    code, out, _ = plainzero("play", game, "--simulations", "20", typed=typed)
    assert code == 0 and "you play alone" in out
    assert re.search(r"chance: [24]@[ab][12]", out)
    assert re.search(r"Game over. Result: [+-]\d\.\d\d\.\n$", out)
    assert out == plainzero("play", game, "--simulations", "20", typed=typed).out


def test_watching_needs_no_input(plainzero):
    options = ("--side", "none", "--simulations", "2000", "--evaluator", "rollout")
    code, out, _ = plainzero("play", "tic-tac-toe", *options)
    assert code == 0 and out.count("search plays") == 9 and out.endswith("A draw.\n")


def test_end_of_input_ends_cleanly(plainzero):
    code, out, err = plainzero("play", "tic-tac-toe", "--simulations", "50", typed="b2\n")
    assert (code, err) == (0, "") and out.endswith("Game stopped.\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["hex(size=4)"], "a search with random playouts, 1 s per move. Use --opponent"),
        (
            ["hex(size=4)", "--simulations", "1500"],
            "random playouts, 1,500 simulations per move. Use",
        ),
        (["connect-four", "--seconds", "2"], "2 s per move. You gave search options; to play the"),
        (["trio", "--simulations", "0"], "bundled:0: the bundled network without a search. Use"),
        (
            ["connect-four"],
            "bundled:200,book: the bundled network with 200 simulations per move and",
        ),
    ],
)
def test_every_default_opponent_is_announced(plainzero, options, words):
    out = plainzero("play", *options, typed="quit\n").out
    assert out.startswith("Your opponent is ") and words in out and "--opponent" in out


def test_a_reused_tree_is_told_from_new_simulations(plainzero):
    typed = "hint\nhint\nquit\n"
    out = plainzero("play", "tic-tac-toe", "--simulations", "200", typed=typed).out
    assert re.search(r" 200 simulations in \d\.\d s\n", out)
    assert re.search(r" 200 new simulations in \d\.\d s, 400 visits in total\n", out)


def test_hint_help_undo_and_mistakes(plainzero):
    typed = "hint\nhelp\nundo\nz9\nb2\nb2\nundo\nundo\na1\nquit\n"
    code, out, _ = plainzero("play", "tic-tac-toe", "--simulations", "200", typed=typed)
    assert code == 0
    assert re.search(r"hint: [abc][123]  expects", out)
    assert "Legal moves: a1 b1 c1 a2 b2 c2 a3 b3 c3" in out
    assert out.count("You have no move to take back.") == 2
    legal = "a1 b1 c1 a2 b2 c2 a3 b3 c3"
    assert f"tic-tac-toe has no move 'z9'; legal moves: {legal}" in out
    assert "b2 is not legal here; legal moves: " in out
    boards = out.split("   a  b  c")[1:]
    empty = [board for board in boards if not re.search(r"^ \d.*[xo]", board, re.MULTILINE)]
    assert len(empty) == 2  # at the beginning, and after undo
    assert re.search(r"^ 1 x", boards[-1], re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["shogi"], ["no game 'shogi'"]),
        (["trio", "--side", "fourth"], ["'fourth'", "first, second, third, none"]),
        (["hex(size=4)", "--simulations", "0"], ["no budget"]),
        (["tic-tac-toe", "--set", "speed=3"], ["unknown option 'speed'"]),
    ],
)
def test_bad_input_is_one_sentence(refused, arguments, words):
    sentence = refused("play", *arguments)
    assert all(word in sentence for word in words)


def test_tree_is_kept_between_moves(plainzero, monkeypatch):
    from plainzero import Searcher

    reused = []
    prepare = Searcher._prepare_tree

    def watched(self, batch):
        tree = prepare(self, batch)
        reused.append(int(tree.roots["num_nodes"][0]))
        return tree

    monkeypatch.setattr(Searcher, "_prepare_tree", watched)
    plainzero("play", "tic-tac-toe", "--simulations", "500", typed="b2\nhint\nquit\n")
    assert max(reused) > 5


def test_chance_is_drawn_by_its_probabilities():
    import random

    from plainzero.cli.terminal.search_arguments import draw_outcome

    game = make_game("2048")
    state, chance = game.new_state(), random.Random(1)
    assert state.to_play == CHANCE
    fours = sum(draw_outcome(game, state, chance) % 2 for _ in range(2000))
    assert 150 < fours < 250


def test_the_opening_book_corrects_the_opponent_and_says_so(plainzero):
    options = ("--side", "second", "--opponent", "uct:1,book")
    code, out, err = plainzero("play", "connect-four", *options, typed="hint\nquit\n")
    assert (code, err) == (0, "")
    assert "uct:1,book plays 4  by the opening book; the search chose 1, expects " in out


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["search", "connect-four", "--agent", "uct:9,book"], "does not use the opening book"),
        (["evaluate", "uct:9,book", "--game", "connect-four"], "does not use the opening book"),
        (["play", "trio", "--opponent", "uct:9,book"], "there is no opening book for trio, only"),
    ],
)
def test_the_opening_book_is_refused_where_it_has_no_part(refused, command, sentence):
    assert sentence in refused(*command)
