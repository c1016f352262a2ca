import { afterEach, expect, test } from "vitest";

import type { GameInfo, RunInfo } from "../api/schema";
import { DEFAULT_CHOICE, NOTHING_KNOWN, kindsFor } from "./agents";
import { offer } from "./server.svelte";
import { defaultOpponent } from "./defaultOpponent";

const four: GameInfo = {
  name: "four",
  title: "Four",
  summary: "",
  parameters: [],
  num_players: 2,
  is_own: false,
  has_bundled_network: true,
};

afterEach(() => {
  offer.games = [];
  offer.runs = [];
});

test("the bundled network is the default opponent", () => {
  offer.games = [four, { ...four, name: "trio", has_bundled_network: false }];
  const opponent = defaultOpponent("four", { ...DEFAULT_CHOICE, kind: "alphabeta" });
  expect(opponent).toMatchObject({ kind: "bundled", budget: "simulations", simulations: 200 });
  expect(defaultOpponent("trio", opponent)).toMatchObject({ kind: "uct", simulations: 800 });
  expect(defaultOpponent("four(cols=8)", DEFAULT_CHOICE).kind).toBe("uct");
});

test("a run of the game takes precedence over a bundled network", () => {
  offer.games = [four];
  offer.runs = [{ run: "mine", game: "four", steps: [10] } as unknown as RunInfo];
  expect(defaultOpponent("four", DEFAULT_CHOICE)).toMatchObject({ kind: "guided", run: "mine" });
});

test("a bundled network can be chosen if available", () => {
  expect(kindsFor([], NOTHING_KNOWN)).not.toContain("bundled");
  expect(kindsFor([], { ...NOTHING_KNOWN, has_bundled_network: true })).toContain("bundled");
});
