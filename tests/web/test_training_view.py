"""The Training view: its numbers are those on disk; runs start, stop and resume."""

import re

import pytest
import torch
from browsing import PATIENCE
from playwright.sync_api import expect

from plainzero.selfplay.shards import list_shards, read_shard
from plainzero.training.metrics import read_metrics
from plainzero.training.saved_run import open_run

SETTINGS = "training.generation_positions=200\nselfplay.games=16\nrun.backend=torch\nrun.threads=1"


@pytest.fixture
def metrics(run_folder):
    return read_metrics(run_folder / "metrics.jsonl")


def open_training(page, path="", **query):
    words = "&".join(f"{name}={value}" for name, value in query.items())
    page.goto(f"/#/training{path}?{words}")


def facts_in(place):
    """The numbers of a run, by their names."""
    rows = place.locator("dl > div")
    expect(rows.first).to_be_visible()
    pairs = (row.inner_text().split("\n") for row in rows.all())
    return {name: value.split(" ")[0] for name, value in pairs}


def rows_of(table):
    """The texts in a table's body, row by row."""
    return [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]


def wait_for_state(page, run, words):
    """Waits until the page shows the run in this state; returns the generation."""
    status = page.get_by_role("status").filter(has_text=f"{run}:")
    expect(status).to_have_text(re.compile(rf"{run}: {words}, generation \d+"))
    return int(status.inner_text().split()[-1])


def test_a_runs_numbers_are_those_of_its_metrics(page, run_folder, metrics):
    open_training(page)
    card = page.get_by_role("article", name=f"Run {run_folder.name}")
    rated = [line["rating"] for line in metrics if "rating" in line]
    rating = f"{rated[-1]:.0f}".replace("-", "−") if rated else "–"
    expect(card.locator("dl")).to_contain_text(rating)
    assert facts_in(card) == {"Generation": "3", "Rating": rating, "Accuracy": "–"}
    card.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(run_folder.name)
    loss = page.get_by_role("region", name="Loss").get_by_role("table")
    names = ("loss", "policy_loss", "value_loss")
    expect(loss.locator("tbody tr")).to_have_count(len(metrics))
    assert rows_of(loss) == [
        [str(line["generation"]), *(f"{line[name]:.2f}" for name in names)] for line in metrics
    ]
    page.get_by_text("Minutes", exact=True).click()
    age = page.get_by_role("region", name="Age of the data").get_by_role("table")
    expect(age.get_by_role("columnheader").first).to_have_text("minute")
    assert [row[1] for row in rows_of(age)] == [f"{line['replay_age']:.1f}" for line in metrics]
    expect(page.get_by_role("region", name="Accuracy")).to_contain_text(
        "no bundled solved positions"
    )
    assert "x=minutes" in page.url


def test_an_unknown_setting_is_refused_with_the_servers_message(browser, address):
    context = browser.new_context(base_url=address)  # its console may report the error
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    open_training(page)
    page.get_by_role("button", name="Start a run").click()
    page.get_by_text("More settings").click()
    page.get_by_label("All settings").fill("network.kin=mlp")
    with page.expect_response("**/api/runs") as refusal:
        page.get_by_role("button", name="Start training").click()
    expect(page.get_by_role("alert")).to_contain_text(refusal.value.json()["message"])
    assert "did you mean kind?" in refusal.value.json()["message"]
    context.close()


def test_a_run_is_started_followed_stopped_and_resumed(page, home):
    open_training(page)
    page.get_by_role("button", name="Start a run").click()
    page.get_by_label("Game", exact=True).select_option(label="Tic Tac Toe")
    page.get_by_label("Name").fill("from-the-page")
    page.get_by_label("Network").select_option("mlp")
    page.get_by_text("More settings").click()
    page.get_by_label("Simulations per move").fill("4")
    page.get_by_label("All settings").fill(f"{SETTINGS}\nrun.assess_seconds=0")
    page.get_by_role("button", name="Start training").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("from-the-page")
    seen = [wait_for_state(page, "from-the-page", "(Starting|Training)")]
    for _ in range(2):
        status = page.get_by_role("status").filter(has_text="from-the-page:")
        expect(status).not_to_have_text(re.compile(rf"generation {seen[-1]}$"))
        seen.append(wait_for_state(page, "from-the-page", "Training"))
    assert seen == sorted(set(seen))
    page.get_by_role("button", name="Stop and save").click()
    stopped = wait_for_state(page, "from-the-page", "Stopped")
    lines = read_metrics(home / "from-the-page" / "metrics.jsonl")
    assert stopped == len(lines) >= seen[-1]
    rows = page.get_by_role("region", name="Loss").get_by_role("table").locator("tbody tr")
    expect(rows.last.locator("th")).to_have_text(str(stopped))
    page.get_by_role("button", name="Resume").click()
    status = page.get_by_role("status").filter(has_text="from-the-page:")
    expect(status).to_have_text(re.compile(r"Training, generation \d+"))
    expect(status).not_to_have_text(re.compile(rf"generation {stopped}$"))
    page.get_by_role("button", name="Stop and save").click()
    assert wait_for_state(page, "from-the-page", "Stopped") > stopped
    config = (home / "from-the-page" / "config.toml").read_text()
    assert "simulations = 4\n" in config
    assert 'kind = "mlp"' in config


def test_a_self_play_game_is_replayed_as_it_was_recorded(page, run_folder):
    run = open_run(run_folder)
    records = read_shard(run.game, list_shards(run_folder / "games")[-1])
    index = next(i for i, one in enumerate(records[:50]) if 0 < one.opening < len(one.moves) - 1)
    record = records[index]
    open_training(page, f"/{run_folder.name}", tab="games")
    rows = page.get_by_role("table", name="Self-play games").locator("tbody tr")
    expect(rows).to_have_count(min(50, len(records)))
    cells = rows.nth(index).locator("td").all_inner_texts()
    assert [cells[2], cells[3], cells[5]] == [
        str(len(record.moves)),
        str(record.opening),
        str(record.simulations),
    ]
    page.get_by_role("button", name=f"Game {index + 1}", exact=True).click()
    moves = page.get_by_test_id("move")
    expect(moves).to_have_count(len(record.moves))
    names = [run.game.action_name(int(action)) for action in record.moves]
    assert moves.all_inner_texts() == names
    expect(page.get_by_text("Random opening move")).to_be_visible()
    for _ in range(record.opening):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text(f"{record.opening} of {len(record.moves)} moves")).to_be_visible()
    expect(page.get_by_test_id("played")).to_have_text(names[record.opening])
    shares = record.policies[record.opening]
    best = int(shares.argmax())
    first = page.get_by_role("table", name="Policy target").locator("tr").first
    expect(first).to_contain_text(run.game.action_name(best))
    shown = float(first.locator("td").nth(1).inner_text().split()[0])
    assert shown == pytest.approx(100 * shares[best], abs=0.51)
    link = page.get_by_role("link", name="Open in Play").get_attribute("href")
    played = ",".join(str(action) for action in record.moves[: record.opening])
    assert link == f"#/play?game=tic-tac-toe&moves={played}"
    assert f"generation=3&game={index + 1}&move={record.opening}" in page.url


def test_games_are_requested_once_and_another_view_requests_no_run(page, run_folder):
    requests = []
    page.on("request", lambda request: requests.append(request.url.split("/api/")[-1]))
    open_training(page, f"/{run_folder.name}", tab="games")
    expect(page.get_by_role("table", name="Self-play games")).to_be_visible()
    page.get_by_role("button", name="Game 1", exact=True).click()
    expect(page.get_by_role("heading", name="Game 1", exact=True)).to_be_visible()
    page.goto("/#/learn/self-play")
    expect(page.get_by_role("article")).to_be_visible()
    lists = [url for url in requests if url.startswith(f"runs/{run_folder.name}/games?")]
    assert len(lists) == 1
    assert not [url for url in requests if "self-play" in url]


def test_a_position_over_time_ends_with_the_newest_network(page, run_folder):
    run = open_run(run_folder)
    state = run.game.new_state()
    run.game.apply(state, 4)
    open_training(page, f"/{run_folder.name}", tab="over-time", at="given")
    with page.expect_response("**/position-over-time"):
        page.get_by_role("gridcell", name="row 2, column 2").click()
    page.get_by_text("As a table").click()
    table = page.get_by_role("table", name="Evaluations by checkpoint")
    expect(table.locator("tbody tr")).to_have_count(len(run.steps))
    taken = table.get_by_role("columnheader", name=run.game.action_name(4), exact=True)
    expect(taken).to_have_count(0)  # the evaluations are of the position after that move
    expect(table.get_by_role("columnheader", name="Right")).to_be_visible()  # shown last
    titles = table.get_by_role("columnheader").all_inner_texts()
    newest = dict(zip(titles, rows_of(table)[0], strict=True))
    with torch.inference_mode():
        output = run.network()(torch.from_numpy(run.game.observation(state)[None]))
    legal = [action for action in range(9) if action != 4]
    policy = torch.softmax(output.logits[0, legal], 0).tolist()
    assert newest["Step"] == str(run.steps[-1])
    value = float(newest["Value"].replace("−", "-"))
    assert value == pytest.approx(float(output.values.reshape(-1)[0]), abs=0.0006)
    for action, share in zip(legal, policy, strict=True):
        shown = float(newest[run.game.action_name(action)].split()[0])
        assert shown == pytest.approx(100 * share, abs=0.51 if share > 0.099 else 0.06)
    corners = sum(share for action, share in zip(legal, policy, strict=True) if action % 2 == 0)
    right = float(newest["Right"].split()[0])  # only the corners hold the draw
    assert right == pytest.approx(100 * corners, abs=0.51)
    expect(page.get_by_text("the player to move draws. Right moves")).to_be_visible()
