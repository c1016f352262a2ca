"""Each way in which a run can fail, planted in metrics, is found; a healthy run is left alone."""

import dataclasses
import math
import re
from pathlib import Path

import pytest

from plainzero import make_game
from plainzero.training.doctor.diagnose import diagnose, main_figures
from plainzero.training.doctor.history import SEVERITIES
from plainzero.training.settings import change, default_config, resolve_run

GENERATIONS = 24
GAME = make_game("connect-four")


SETTINGS = (  # those that findings depend on, whatever the defaults are
    "search.selection=puct",
    "search.visits=32",
    "search.noise_weight=0.25",
    "selfplay.temperature=1",
    "selfplay.opening_share=0.7",
    "selfplay.full_share=1",
    "training.reuse=2",
    "training.max_uses=12",
    "training.batch_size=1024",
    "training.learning_rate=0.002",
    "training.schedule=cosine",
    "training.final_rate=0.02",
    "training.value_weight=1",
    "run.cache_bytes=1000000",
)


def configured(*settings, game=GAME):
    return resolve_run(change(default_config(game), [*SETTINGS, *settings]), game)


def healthy(generations=GENERATIONS):
    """A run of Connect Four that learns well: numbers move from those of a first generation."""
    lines = []
    for number in range(1, generations + 1):
        done = (number - 1) / (generations - 1)
        learned = 1 - math.exp(-4 * done)
        lines.append(
            {
                "generation": number,
                "step": 12 * number,
                "seconds": 40.0 * number,
                "games": 420.0,
                "total_games": 420 * number,
                "total_positions": 6000 * number,
                "loss": 2.36 - 0.8 * learned,
                "policy_loss": 1.95 - 0.6 * learned,
                "value_loss": 0.41 - 0.2 * learned,
                "policy_entropy": 1.94 - 0.9 * learned,
                "target_entropy": 1.45 - 0.4 * learned,
                "policy_kl": 0.50 - 0.3 * learned,
                "search_agreement": 0.18 + 0.5 * learned,
                "value_mean": 0.02,
                "value_spread": 0.45 * learned,
                "value_explained": 0.55 * learned,
                "gradient_norm": 0.3,
                "learning_rate": 2e-3 * (0.02 + 0.98 * (1 + math.cos(math.pi * done)) / 2),
                "draw_rate": 0.02,
                "first_player_score": 0.15,
                "game_length": 19.0,
                "replay_positions": min(6000 * number, 40_000),
                "replay_age": min(number / 2, 4.0),
                "replay_uses": 2.0,
                "positions_per_second": 900.0,
                "evaluator_share": 0.9,
                "selfplay_share": 0.85,
                "cache_hit_rate": 0.15,
                "rating": 300 + 900 * done,
                "rating_error": 80.0,
                "accuracy": 0.5 + 0.4 * done,
            }
        )
    return lines


def planted(**changes):
    """The healthy run with other numbers: constants, or functions of the generation."""
    return [
        line
        | {
            name: change(line["generation"]) if callable(change) else change
            for name, change in changes.items()
        }
        for line in healthy()
    ]


def kinds(metrics, config=None, game=GAME):
    return [finding.kind for finding in diagnose(metrics, config or configured(), game)]


def without(metrics, *names):
    return [{k: v for k, v in line.items() if k not in names} for line in metrics]


def test_healthy_run_is_left_alone():
    assert diagnose(healthy(), configured(), GAME) == []


def test_low_rates_before_the_end_are_no_finding():
    warming_up = planted(learning_rate=lambda g: 2e-5 if g <= 0.6 * len(healthy()) else 2e-3)
    assert kinds(warming_up) == []
    ending = planted(learning_rate=lambda g: 2e-3 if g <= 0.4 * len(healthy()) else 4e-5)
    (finding,) = diagnose(ending, configured(), GAME)
    assert finding.kind == "learning rate spent" and "62%" in finding.seen


def test_healthy_run_without_strength_is_left_alone():
    names = ("rating", "rating_error", "accuracy", "cache_hit_rate", "value_explained")
    assert kinds(without(healthy(), *names)) == []


PLANTED = {
    "loss not finite": {"loss": float("nan")},
    "exploded gradients": {"gradient_norm": lambda g: 1088.0 if g == 12 else 0.3},
    "value collapse": {"value_explained": 0.01},
    "policy not learning": {
        "policy_kl": lambda g: max(0.455, 0.5 - 0.01 * g),  # drifts by a tenth
        "search_agreement": 0.19,
    },
    "data too old": {"replay_age": lambda g: 0.9 * g},
    "data reused too often": {"replay_uses": 11.0},
    "overfitting": {"accuracy": lambda g: 0.8 - 0.01 * g},
    "strength stagnates": {"accuracy": lambda g: min(0.7, 0.4 + 0.05 * g)},
    "learning rate spent": {"learning_rate": 4e-5},
    "all draws": {"draw_rate": 0.97},
    "one side wins": {"first_player_score": 0.95},
    "policy collapsed": {"policy_entropy": 0.03},
    "games end at once": {"games": 6000.0},
    "games too long": {"game_length": 42.0, "draw_rate": 0.8},
    "network starved": {"evaluator_share": 0.3},
    "learning takes most of the time": {"selfplay_share": 0.2},
    "cache useless": {"cache_hit_rate": 0.003},
    "gate refuses": {"gate_passed": 0.0},
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_fault_is_the_only_finding(kind):
    findings = diagnose(planted(**PLANTED[kind]), configured(), GAME)
    assert [finding.kind for finding in findings] == [kind]
    (finding,) = findings
    assert finding.severity in SEVERITIES
    assert re.search(r"\d", finding.seen) or "nan" in finding.seen
    assert finding.seen.endswith(".") and finding.advice.endswith(".")


SET = {
    "no root noise": ["search.noise_weight=0"],
    "search starved": ["search.visits=1"],
    "data reused too often": ["training.reuse=12", "training.max_uses=40"],
}


@pytest.mark.parametrize("kind", SET)
def test_fault_of_the_settings_is_found_without_learning_from_it(kind):
    assert kinds(healthy(), configured(*SET[kind])) == [kind]


def test_settings_without_any_chance_are_a_problem():
    config = configured(
        "search.noise_weight=0", "selfplay.temperature=0", "selfplay.opening_share=0"
    )
    findings = diagnose(healthy(), config, GAME)
    assert [(f.kind, f.severity) for f in findings] == [
        ("no exploration", "problem"),
        ("no root noise", "warning"),
    ]


def test_gumbel_needs_neither_noise_nor_many_simulations():
    settings = ["search.selection=gumbel", "search.simulations=4", "selfplay.temperature=0"]
    config = resolve_run(change(default_config(GAME), settings), GAME)
    assert kinds(healthy(), config) == []
    (finding,) = diagnose(planted(policy_entropy=0.01), config, GAME)
    assert "noise" not in finding.advice and "search.simulations" in finding.advice


def test_advice_can_be_given_to_train():
    """What is named with a value is a setting that the config takes."""
    game, seen = GAME, 0
    for changes in PLANTED.values():
        for finding in diagnose(planted(**changes), configured(), game):
            for setting in re.findall(r"\b\w+\.\w+=[\w.]*\w", finding.advice):
                change(default_config(game), [setting])
                seen += 1
    assert seen > 6


@pytest.mark.parametrize(
    "changes",
    [{"value_mean": 0.99}, {"value_mean": -0.97}, {"value_spread": 0.001}],
)
def test_value_that_stands_still_is_a_collapse(changes):
    assert kinds(planted(**changes)) == ["value collapse"]


def test_untrained_value_is_told_by_its_weight():
    config = configured("training.value_weight=0")
    (finding,) = diagnose(planted(value_explained=0.0), config, GAME)
    assert finding.kind == "value collapse" and "training.value_weight=1" in finding.advice


@pytest.mark.parametrize("latest", [2, 24])
def test_a_run_that_was_extended_at_too_high_a_rate_has_exploded(latest):
    """The numbers of a run of one generation at 2 % of the rate, and another at 70 %."""
    exploded = {"loss": 86.0, "policy_loss": 85.2, "gradient_norm": 1088.0}
    lines = healthy()[:latest]
    lines[1] |= exploded
    finding = diagnose(lines, configured(), GAME)[0]
    assert finding.kind == "exploded gradients"
    assert finding.severity == ("problem" if latest == 2 else "warning")  # it may recover
    assert "In generation 2 the policy loss is 85.2; a uniform policy has 1.95." == finding.seen
    lines[1] |= {"policy_loss": 1.9}
    assert "the gradient norm is 1.09e+03; it was 0.3 before" in str(
        diagnose(lines, configured(), GAME)[0]
    )


def test_gradients_that_grow_with_what_is_learned_have_not_exploded():
    assert kinds(planted(gradient_norm=lambda g: 0.13 * 1.2**g)) == []


def test_false_resignations_are_found_where_players_resign():
    config = configured("selfplay.resign_below=0.9")
    assert kinds(planted(false_resign_rate=0.2), config) == ["false resignations"]
    assert kinds(planted(false_resign_rate=0.04), config) == []
    (finding,) = diagnose(planted(false_resign_rate=0.2), config, GAME)
    assert "selfplay.resign_below=0.95" in finding.advice


def test_idle_network_is_no_fault_where_the_cache_answers():
    assert kinds(planted(evaluator_share=0.3, cache_hit_rate=0.8)) == []


def test_nearly_perfect_player_may_stand_still():
    assert kinds(planted(accuracy=0.985)) == []


def test_rating_counts_where_there_is_no_accuracy_and_it_is_known_well():
    flat = without(planted(rating=800.0), "accuracy")
    assert kinds(flat) == ["strength stagnates"]
    unsure = [line | {"rating_error": 400.0} for line in flat]
    assert kinds(unsure) == []


def test_fixed_length_of_a_game_is_no_fault():
    game = make_game("dots-and-boxes")
    assert game.max_turns == 12
    lines = planted(game_length=12.0, draw_rate=0.2)
    assert kinds(lines, configured(game=game), game) == []


def test_one_player_has_neither_draws_nor_sides():
    game = make_game("2048")
    lines = planted(draw_rate=1.0, first_player_score=0.95, value_mean=0.97, game_length=900.0)
    assert kinds(lines, configured(game=game), game) == []


def test_first_generations_are_too_early_to_judge_learning():
    for lines in ([], healthy()[:3]):
        (finding,) = diagnose(lines, configured(), GAME)
        assert (finding.kind, finding.severity) == ("too early", "note")
    early = [line | {"value_explained": 0.0, "draw_rate": 1.0} for line in healthy()[:3]]
    assert kinds(early) == ["all draws", "too early"]


def test_generations_of_very_few_steps_are_named():
    (finding,) = diagnose(planted(step=lambda g: 2 * g), configured(), GAME)
    assert finding.kind == "too few steps" and "training.batch_size=256" in finding.advice


def test_worst_comes_first():
    findings = diagnose(
        planted(cache_hit_rate=0.0, evaluator_share=0.1, first_player_score=-1.0),
        configured(),
        GAME,
    )
    assert [finding.severity for finding in findings] == ["problem", "warning", "note"]


def test_figures_are_the_first_and_the_latest():
    figures = main_figures(healthy())
    assert figures["games"] == ("420", "10,080")
    assert figures["accuracy"] == ("50.0%", "90.0%")
    assert "with search" not in figures
    assert main_figures([]) == {}


def test_every_kind_of_finding_is_in_the_documents():
    page = (Path(__file__).parents[3] / "docs" / "training.md").read_text()
    sources = Path(__file__).parents[3] / "src" / "plainzero" / "training"
    named = set()
    for path in (sources / "doctor").glob("*.py"):
        named |= set(re.findall(r'Finding\(\s*"([^"]+)"', path.read_text()))
    assert len(named) > 18
    assert [kind for kind in sorted(named) if f"`{kind}`" not in page] == []


def test_settings_are_not_changed():
    config = configured()
    before = dataclasses.asdict(config)
    diagnose(healthy(), config, GAME)
    assert dataclasses.asdict(config) == before
