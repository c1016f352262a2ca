"""Ladders: honest ratings from games between neighbours, spent where they tell most."""

import dataclasses
import itertools
import json
import xml.etree.ElementTree

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE, TRIO

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.ladder import Ladder, Pair
from plainzero.arena.ladder_agents import (
    expected_cost,
    expected_elo,
    family_of,
    label_of,
    natural_agents,
)
from plainzero.arena.ladder_files import bundled_ladder, read_ladder, write_ladder
from plainzero.arena.ladder_games import LadderLimits, LadderPlay, begin_ladder
from plainzero.arena.ladder_schedule import choose_pair, count_rounds
from plainzero.arena.ladder_text import write_markdown
from plainzero.arena.plots import plot_ladder
from plainzero.arena.ratings import ELO
from plainzero.games.registry import bundled_games

NAMES = ("uct:1000", "random", "uct:100", "uct:10000", "puct:1000")
TRUE = np.array([0.0, -600.0, -250.0, 220.0, -420.0])
NEIGHBOURS = ((1, 4), (2, 4), (0, 2), (0, 3), (1, 2))


def simulate(generator, rounds, is_same_twice=False):
    """A ladder of two games per round; with `is_same_twice`, the second repeats the first."""
    ladder = Ladder("connect-four", NAMES[0], 0, (), dict.fromkeys(NAMES, ""))
    for i, j in NEIGHBOURS:
        chance = 1 / (1 + np.exp(-(TRUE[i] - TRUE[j]) / ELO))
        won = generator.random((rounds, 2)) < chance
        if is_same_twice:
            won[:, 1] = won[:, 0]
        wins, squares = int(won.sum()), float((won.sum(axis=1) ** 2).sum())
        pair = Pair(NAMES[i], NAMES[j], wins, 0, 2 * rounds - wins, rounds, squares)
        ladder = ladder.with_pair(pair)
    return ladder


COSTS = {name: expected_cost(name, CONNECT_FOUR) for name in (*NAMES, "uct:8000", "perfect")}


def costs_of(*names):
    return {name: COSTS[name] for name in names}


def rungs(ladder):
    return {rung.agent: rung for rung in ladder.rungs}


@pytest.mark.parametrize("is_same_twice", [False, True])
def test_intervals_cover_the_truth_also_when_games_of_an_opening_agree(is_same_twice):
    generator, inside, ladders = np.random.default_rng(1), 0, 150
    for _ in range(ladders):
        found = rungs(simulate(generator, 60, is_same_twice))
        for name, true in zip(NAMES[1:], TRUE[1:], strict=True):
            inside += abs(found[name].elo - true) <= found[name].error
    assert 0.92 <= inside / (4 * ladders) <= 0.985


def test_the_dispersion_is_the_ratio_of_variances():
    generator = np.random.default_rng(2)
    assert simulate(generator, 3000, is_same_twice=True).dispersion == pytest.approx(2.0, rel=0.08)
    assert simulate(generator, 3000).dispersion == pytest.approx(1.0, abs=0.05)


def test_intervals_widen_if_strength_is_not_one_number():
    """Each beats the next one of a circle in 80 of 100 games."""
    names = NAMES[:4]
    ladder = Ladder("connect-four", names[0], 0, (), dict.fromkeys(names, ""))
    for i, j in ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)):
        wins = 80 if j == (i + 1) % 4 else 50
        ladder = ladder.with_pair(Pair(names[i], names[j], wins, 0, 100 - wins, 50, wins**2 / 50))
    assert [rung.elo for rung in ladder.rungs] == pytest.approx([0] * 4, abs=1)
    assert ladder.misfit > 10 and ladder.dispersion < 2
    assert all(rung.error > 200 for rung in ladder.rungs if rung.agent != names[0])


def test_another_anchor_changes_no_difference():
    ladder = simulate(np.random.default_rng(3), 100)
    other = dataclasses.replace(ladder, anchor="uct:100")
    before, after = rungs(ladder), rungs(other)
    shift = before["uct:100"].elo
    assert after["uct:100"].elo == after["uct:100"].error == 0.0
    for name in NAMES:
        assert after[name].elo == pytest.approx(before[name].elo - shift, abs=1e-3)


def test_agents_without_a_chain_of_games_to_the_anchor_are_not_rated():
    ladder = simulate(np.random.default_rng(4), 10)
    agents = {**ladder.agents, "uct:7": "", "uct:8": "", "uct:9": ""}
    ladder = dataclasses.replace(ladder, agents=agents)
    ladder = ladder.with_pair(Pair("uct:7", "uct:8", 5, 0, 5, 5, 6.0))
    assert ladder.unrated == ["uct:7", "uct:8", "uct:9"]
    assert {rung.agent for rung in ladder.rungs} == set(NAMES)


def variance_after(ladder, pair, focus):
    """The summed variance of the ratings after one more batch: information is added, inverted."""
    index = {name: number for number, name in enumerate(ladder.rated)}
    information = np.linalg.inv(ladder.ratings.covariance[1:, 1:] / ELO**2)
    direction = np.zeros(len(index))
    direction[index[pair[0]]], direction[index[pair[1]]] = 1.0, -1.0
    direction = direction[1:]
    games = 2 * count_rounds(COSTS[pair[0]] + COSTS[pair[1]])
    added = games * ladder.predict(*pair)[1] * np.outer(direction, direction)
    variances = np.diag(np.linalg.inv(information + added))
    return sum(variances[index[name] - 1] for name in focus if index[name])


@pytest.mark.parametrize("focus", [NAMES, ("random",), ("uct:10000", "puct:1000")])
@pytest.mark.parametrize("seed", range(3))
def test_the_next_pair_reduces_the_variance_most_for_its_cost(seed, focus):
    ladder = simulate(np.random.default_rng(seed), 12)
    empty = sum((rungs(ladder)[name].error / ELO / 1.96) ** 2 for name in focus)
    empty /= ladder.dispersion

    def gain(pair):
        cost = COSTS[pair[0]] + COSTS[pair[1]]
        return (empty - variance_after(ladder, pair, focus)) / (count_rounds(cost) * cost)

    order = sorted(NAMES, key=lambda name: rungs(ladder)[name].elo)
    allowed = [
        pair
        for pair in itertools.combinations(NAMES, 2)
        if set(pair) & set(focus)
        and (
            abs(order.index(pair[0]) - order.index(pair[1])) == 1
            or ladder.predict(*pair)[1] >= 0.03
        )
    ]
    chosen = choose_pair(ladder, costs_of(*NAMES), focus)
    assert gain(chosen) == pytest.approx(max(map(gain, allowed)), rel=1e-3)
    assert set(chosen) != {"random", "uct:10000"}


def test_agents_meet_of_which_one_surely_wins_only_if_nobody_stands_between():
    ladder = Ladder("connect-four", NAMES[0], 0, (), dict.fromkeys(NAMES[:3], ""))
    for first, second in (("uct:1000", "uct:100"), ("uct:100", "random")):
        ladder = ladder.with_pair(Pair(first, second, 60, 0, 0, 30, 120.0))
    costs = costs_of(*NAMES[:3])
    chosen = {choose_pair(ladder, costs, [name]) for name in NAMES[:3]}
    assert chosen <= {("uct:1000", "uct:100"), ("random", "uct:100")}
    assert choose_pair(ladder, costs, ["random"], lambda p: "uct:100" not in p) is None


def test_a_new_agent_first_meets_its_expected_neighbour():
    ladder = simulate(np.random.default_rng(5), 10)
    ladder, _ = ladder.with_agents({"uct:8000": ""})
    agents = costs_of(*NAMES, "uct:8000")
    assert choose_pair(ladder, agents, ["uct:8000"]) == ("uct:10000", "uct:8000")
    empty = dataclasses.replace(ladder, pairs=())
    first = choose_pair(empty, agents, list(agents))
    assert "uct:1000" in first and "random" not in first


def test_cheap_agents_have_their_first_games_before_costly_ones():
    ladder = Ladder("connect-four", "uct:1000", 0, (), dict.fromkeys([*NAMES, "perfect"], ""))
    costs, firsts = costs_of(*NAMES, "perfect"), []
    for _ in range(len(costs) - 1):
        pair = choose_pair(ladder, costs, list(costs))
        firsts.append(next(name for name in pair if name not in ladder.rated))
        ladder = ladder.with_pair(Pair(*pair, 1, 0, 1, 1, 1.0))
    assert firsts == ["uct:100", "puct:1000", "random", "uct:10000", "perfect"]


def test_only_allowed_pairs_are_chosen():
    ladder = simulate(np.random.default_rng(6), 10)
    only = ("uct:1000", "uct:10000")
    assert choose_pair(ladder, costs_of(*NAMES), NAMES, lambda pair: pair == only) == only
    assert choose_pair(ladder, costs_of(*NAMES), NAMES, lambda _: False) is None
    ladder, _ = ladder.with_agents({"perfect": ""})
    agents = costs_of(*NAMES, "perfect")
    assert "perfect" in choose_pair(ladder, agents, list(agents))
    chosen = choose_pair(ladder, agents, list(agents), lambda pair: "perfect" not in pair)
    assert chosen == choose_pair(ladder, costs_of(*NAMES), NAMES)


def test_costly_pairs_have_short_batches():
    cheap, costly = COSTS["random"] + COSTS["uct:100"], COSTS["perfect"] + COSTS["perfect"]
    assert count_rounds(cheap) > count_rounds(costly) >= 2


def play(ladder, specs, games, focus=None, save=lambda _: None, game=CONNECT_FOUR):
    agents = [parse_agent(spec, game) for spec in specs]
    begun, _ = ladder.with_agents(dict.fromkeys(specs, ""))
    playing = LadderPlay(game, begun, agents, focus or specs, save)
    playing.run(LadderLimits(games=games))
    return playing.ladder


SPECS = ["uct:50", "random", "uct:5", "uct:200"]


@pytest.fixture(scope="module")
def small():
    return play(begin_ladder(CONNECT_FOUR, "uct:50", seed=3), SPECS, 220)


def test_more_simulations_stand_higher_on_the_ladder(small):
    order = [rung.agent for rung in small.rungs]
    assert order == ["uct:200", "uct:50", "uct:5", "random"]
    assert not small.pair("random", "uct:200").games
    assert small.games >= 220 and all(rung.games >= 20 for rung in small.rungs)


def test_the_same_seed_plays_the_same_ladder_also_if_it_is_resumed_from_a_file(small, tmp_path):
    file = tmp_path / "ladder.json"
    begun = begin_ladder(CONNECT_FOUR, "uct:50", seed=3)
    first = play(begun, SPECS, 100, save=lambda ladder: write_ladder(ladder, file))
    assert first.games < small.games
    again = play(read_ladder(file), SPECS, 220 - first.games)
    assert set(again.pairs) == set(small.pairs)
    assert again.ratings.elo == pytest.approx(small.ratings.elo)


def test_placing_an_agent_plays_no_games_between_the_others(small):
    placed = play(small, [*SPECS, "uct:100"], 60, focus=["uct:100"])
    new = [pair for pair in placed.pairs if pair not in small.pairs]
    assert sum(pair.games for pair in new) >= 60
    assert all("uct:100" in (pair.first, pair.second) for pair in new)
    found = rungs(placed)["uct:100"]
    assert rungs(placed)["uct:5"].elo < found.elo < rungs(placed)["uct:200"].elo + found.error


def test_a_ladder_stops_at_once_and_keeps_what_was_played():
    saved, agents = [], [parse_agent(spec, CONNECT_FOUR) for spec in SPECS]
    begun, _ = begin_ladder(CONNECT_FOUR, "uct:50", 0).with_agents(dict.fromkeys(SPECS, ""))
    playing = LadderPlay(CONNECT_FOUR, begun, agents, SPECS, saved.append)
    playing.run(LadderLimits(games=10_000), stop=lambda: len(saved) >= 2)
    assert len(saved) == 2 and saved[-1] is playing.ladder
    assert len(playing.results) == 2


def test_no_pair_plays_an_opening_twice():
    game = make_game("tic-tac-toe")
    begun = begin_ladder(game, "uct:20", 0, plies=1)
    assert 1 < len(begun.openings) < 12
    ladder = play(begun, ["uct:20", "random"], 10_000, game=game)
    assert ladder.pairs[0].rounds == len(begun.openings)
    assert ladder.games == 2 * len(begun.openings)


def test_the_time_limit_ends_a_ladder_and_is_reported():
    seen, agents = [], [parse_agent(spec, CONNECT_FOUR) for spec in SPECS]
    begun, _ = begin_ladder(CONNECT_FOUR, "uct:50", 0).with_agents(dict.fromkeys(SPECS, ""))
    playing = LadderPlay(CONNECT_FOUR, begun, agents, SPECS, lambda _: None)
    playing.run(LadderLimits(minutes=0.05), progress=lambda *now: seen.append(now))
    assert all(total == 3.0 for _, _, total in seen) and seen[-1][1] < 60.0
    done = [now for _, now, _ in seen]
    assert done == sorted(done) and " – " in seen[0][0]


def test_games_for_three_players_are_rated():
    ladder = play(begin_ladder(TRIO, "uct:20", 1), ["uct:20", "random"], 30, game=TRIO)
    found = rungs(ladder)
    assert found["random"].elo < 0 and ladder.pairs[0].games >= 30


def test_a_file_holds_the_whole_ladder_and_its_ratings(small, tmp_path):
    file = tmp_path / "new" / "ladder.json"
    write_ladder(dataclasses.replace(small, made={"command": "x"}), file)
    again = read_ladder(file)
    assert (again.pairs, again.openings, again.agents) == (
        small.pairs,
        small.openings,
        small.agents,
    )
    assert again.made == {"command": "x"} and again.rungs == small.rungs
    written = json.loads(file.read_text())["ratings"]
    assert [row["agent"] for row in written] == [rung.agent for rung in small.rungs]
    assert written[0]["elo"] == pytest.approx(small.rungs[0].elo, abs=0.1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not JSON", "is not a ladder"),
        ("[]", "is not a ladder of this version"),
        ('{"format": "plainzero-ladder-0"}', "is not a ladder of this version"),
        ('{"format": "plainzero-ladder-1", "game": "go"}', "is a damaged ladder"),
    ],
)
def test_other_files_are_refused(tmp_path, text, words):
    file = tmp_path / "ladder.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_ladder(file)


def test_games_of_a_network_that_has_changed_are_dropped(small):
    known, _ = small.with_agents({"uct:5": "a"})
    assert known.pairs != small.pairs, "a first identity other than none is a change"
    same, none = known.with_agents({"uct:5": "a"})
    assert none == [] and same.pairs == known.pairs


@pytest.mark.parametrize("name", bundled_games())
def test_every_game_has_natural_agents_that_can_play_it(name):
    game = make_game(name)
    specs = [spec for spec in natural_agents(game) if not spec.startswith("gtp")]
    assert len(specs) >= 5 and len(specs) == len(set(specs)) and "uct:1000" in specs
    for spec in specs:
        if not spec.startswith("bundled"):
            assert parse_agent(spec, game).name == spec
        assert expected_cost(spec, game) > 0 and -2500 < expected_elo(spec) < 2500


def test_labels_and_families_of_agents():
    assert label_of("gtp:gnugo --mode gtp --level 1 --chinese-rules") == "GNU Go, level 1"
    assert label_of("gomocup[seconds=1]:/opt/pbrain other") == "pbrain"
    assert label_of("run:/home/me/runs/go:100,c_puct=2") == "run:go:100,c_puct=2"
    assert label_of("alphabeta:4") == "alphabeta:4"
    assert family_of("uct:1000,c_uct=1") == ("uct,c_uct=1", 1000)
    assert family_of("run:a:b@7:20") == ("run:a:b@7", 20)
    assert family_of("alphabeta:4") is None and family_of("random") is None


def test_a_ladder_is_drawn_and_written_as_markdown(small, tmp_path):
    svg, png = plot_ladder(small, "Connect Four", tmp_path / "ladder.svg")
    texts = {text.text for text in xml.etree.ElementTree.parse(svg).iter() if text.text}
    assert {"Connect Four", "uct", "random", "200", "simulations per move"} <= texts
    assert png.read_bytes().startswith(b"\x89PNG")
    lines = write_markdown(small).splitlines()
    assert lines[2].startswith("| `uct:200` | +") and "| `uct:50` | 0 |" in lines[3]
    assert f"{small.games} games in" in write_markdown(small)


@pytest.mark.parametrize("name", ["connect-four"])
def test_a_bundled_ladder_belongs_to_the_default_parameters_only(name):
    assert bundled_ladder(make_game(f"{name}(rows=7,cols=8)")) is None
    assert bundled_ladder(TIC_TAC_TOE) is None
