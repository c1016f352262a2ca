import { expect, test } from "vitest";

import type { GameInfo } from "../api/schema";
import { nameWith, parametersIn } from "./names";
import { choiceQuery, DEFAULT_CHOICE, readChoice } from "./agents";

const four: GameInfo = {
  name: "four",
  title: "Four",
  summary: "",
  parameters: [
    { name: "rows", kind: "int", default: 6, choices: [] },
    { name: "wraps", kind: "bool", default: false, choices: [] },
  ],
  num_players: 2,
  is_own: false,
  has_bundled_network: false,
};

test("a name contains the parameters that differ from the default", () => {
  expect(nameWith(four, { rows: 6, wraps: false })).toBe("four");
  expect(nameWith(four, { rows: 7, wraps: true })).toBe("four(rows=7,wraps=True)");
});

test("parameters are read back from a name", () => {
  expect(parametersIn("four(rows=7,wraps=True)", four)).toEqual({ rows: 7, wraps: true });
  expect(parametersIn("four", four)).toEqual({ rows: 6, wraps: false });
});

test("every opponent can be read back from its address", () => {
  for (const kind of ["uct", "bundled", "guided", "network", "alphabeta", "perfect", "random"] as const) {
    const choice = { ...DEFAULT_CHOICE, kind, run: kind === "guided" || kind === "network" ? "r" : "" };
    const entries = Object.entries(choiceQuery(choice)).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, String(value)]],
    );
    expect(readChoice(new URLSearchParams(entries))).toEqual(choice);
  }
});
