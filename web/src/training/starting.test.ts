import { expect, test } from "vitest";

import type { GameInfo } from "../api/schema";
import { emptyForm, readLines, requestOf } from "./starting";

const game: GameInfo = {
  name: "connect-four",
  title: "Connect Four",
  summary: "",
  parameters: [
    { name: "rows", kind: "int", default: 6, choices: [] },
    { name: "cols", kind: "int", default: 7, choices: [] },
  ],
  num_players: 2,
  is_own: false,
  has_bundled_network: false,
};

test("an untouched form requests only the game and the time", () => {
  expect(requestOf(game, emptyForm("connect-four"))).toEqual({
    game: "connect-four",
    run: null,
    minutes: 20,
    settings: [],
  });
});

test("only changes are requested, and lines typed by hand come last", () => {
  const form = {
    ...emptyForm("connect-four"),
    parameters: { rows: 7, cols: 7 },
    name: " mine ",
    network: "mlp" as const,
    values: { "search.simulations": 32, "selfplay.games": 256 },
    text: "# quick\nrun.seed = 3\n\n  search.simulations=8  # after all",
  };
  expect(requestOf(game, form)).toEqual({
    game: "connect-four(rows=7)",
    run: "mine",
    minutes: 20,
    settings: ["network.kind=mlp", "search.simulations=32", "run.seed=3", "search.simulations=8"],
  });
});

test("lines are read without spaces around the sign", () => {
  expect(readLines("a.b = c\n\n#x")).toEqual(["a.b=c"]);
});
