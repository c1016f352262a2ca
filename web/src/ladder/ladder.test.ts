import { expect, test } from "vitest";

import type { Ladder, LadderRung } from "../api/schema";
import { readGame } from "../play/address";
import { toAgent } from "../play/agents";
import { choiceOf, nameOfRung, playLink } from "./agents";
import { linesOf } from "./families";
import { placeOf, scaleOf } from "./scale";

const LIMITS = { simulations: 200_000, seconds: 60, nodes: 1, depth: 30, body_bytes: 1 };

function rung(label: string, elo: number, change: Partial<LadderRung> = {}): LadderRung {
  return { label, elo, error: 50, games: 10, score: 0.5, agent: null, family: "", simulations: 0, ...change };
}

test("an agent of the ladder becomes the same agent in a game", () => {
  const agents = [
    { kind: "search", evaluator: "rollout", run: null, step: null, simulations: 1000, seconds: 0, options: {} },
    { kind: "search", evaluator: "threats", run: null, step: null, simulations: 400, seconds: 0, options: {} },
    { kind: "search", evaluator: "network", run: "go", step: 7, simulations: 20, seconds: 0, options: {} },
    { kind: "network", run: "go", step: null },
    { kind: "alphabeta", depth: 4 },
    { kind: "perfect" },
    { kind: "random" },
  ] as const;
  for (const agent of agents) {
    const link = playLink("trio", 3, rung("x", 0, { agent }));
    const shared = readGame(new URLSearchParams(link?.split("?")[1]));
    expect(shared?.seats).toEqual(["human", "agent", "agent"]);
    expect(shared?.opponent).toEqual(choiceOf(agent));
    const played = shared?.opponent && toAgent(shared.opponent, LIMITS, true);
    for (const [name, value] of Object.entries(agent)) {
      if (value !== null) expect(played).toHaveProperty(name, value);
    }
  }
});

test("agents that cannot be played here have a name but no link", () => {
  expect(playLink("go", 2, rung("GNU Go, level 1", 0))).toBeNull();
  expect(nameOfRung(rung("GNU Go, level 1", 0))).toBe("GNU Go, level 1");
  expect(nameOfRung(rung("bundled:0", 0))).toBe("Bundled network, no search");
  const agent = { kind: "search", evaluator: "uniform", simulations: 1000 } as const;
  expect(nameOfRung(rung("puct:1000", 0, { agent }))).toBe("PUCT, 1000 simulations");
});

test("the scale shows every rating and cuts intervals that say little", () => {
  const rungs = [rung("a", 900, { error: 5000 }), rung("b", 0, { error: 0 }), rung("c", -1100)];
  const scale = scaleOf(rungs);
  expect(scale.high).toBeGreaterThan(900);
  expect(scale.high).toBeLessThan(2000);
  expect(scale.low).toBeLessThan(-1150);
  expect(scale.ticks).toContain(0);
  expect(scale.ticks.length).toBeLessThanOrEqual(8);
  expect(placeOf(scale, scale.low)).toBe(0);
  expect(placeOf(scale, 9999)).toBe(100);
  expect(placeOf(scale, (scale.low + scale.high) / 2)).toBeCloseTo(50);
});

test("agents that differ in simulations alone form a line with its interval", () => {
  const ladder = {
    rungs: [
      rung("uct:1000", 0, { family: "uct", simulations: 1000, error: 0 }),
      rung("uct:100", -300, { family: "uct", simulations: 100 }),
      rung("bundled:0", -310, { family: "bundled" }),
      rung("puct:1000", -400, { family: "puct", simulations: 1000 }),
      rung("random", -900),
    ],
  } as unknown as Ladder;
  const { x, series } = linesOf(ladder);
  expect(x).toEqual([100, 1000]);
  expect(series).toHaveLength(1);
  expect(series[0]?.values).toEqual([-300, 0]);
  expect(series[0]?.low).toEqual([-350, 0]);
  expect(series[0]?.high).toEqual([-250, 0]);
});
