import { afterEach, expect, test } from "vitest";

import type { GameInfo, RunInfo } from "../api/schema";
import { DEFAULT_CHOICE, NOTHING_KNOWN, kindsFor } from "./players";
import { offer } from "./server.svelte";
import { usualOpponent } from "./usual";

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

test("a game with a bundled network begins against that one", () => {
  offer.games = [four, { ...four, name: "trio", has_bundled_network: false }];
  const usual = usualOpponent("four", { ...DEFAULT_CHOICE, kind: "alphabeta" });
  expect(usual).toMatchObject({ kind: "bundled", budget: "simulations", simulations: 200 });
  expect(usualOpponent("trio", usual)).toMatchObject({ kind: "uct", simulations: 800 });
  expect(usualOpponent("four(cols=8)", DEFAULT_CHOICE).kind).toBe("uct");
});

test("a run of one's own goes before a bundled network", () => {
  offer.games = [four];
  offer.runs = [{ run: "mine", game: "four", steps: [10] } as unknown as RunInfo];
  expect(usualOpponent("four", DEFAULT_CHOICE)).toMatchObject({ kind: "guided", run: "mine" });
});

test("a bundled network can be chosen if there is one", () => {
  expect(kindsFor([], NOTHING_KNOWN)).not.toContain("bundled");
  expect(kindsFor([], { ...NOTHING_KNOWN, has_bundled_network: true })).toContain("bundled");
});
