import { expect, test } from "vitest";
import type { Analysis } from "../api/schema";
import { heatOfHint, wordsOfHint } from "./hints";

const analysis: Analysis = {
  to_play: 0,
  value: 0.5,
  values: [],
  simulations: 1,
  nodes: 2,
  is_proven: false,
  best: 0,
  book: null,
  moves: [{ action: 0, name: "1", prior: null, visits: 1, share: 1, q: 0.5, u: null, exact: null }],
  variation: [],
  step: null,
};

test("a hint is the search's move, or the book's instead of it", () => {
  expect(wordsOfHint(analysis)).toBe("Hint: 1. Expected score: 75 %.");
  expect([...(heatOfHint(analysis)?.keys() ?? [])]).toEqual([0]);
  const corrected = { ...analysis, book: { action: 3, name: "4", player: 0 } };
  expect(wordsOfHint(corrected)).toBe("Hint: 4, by the opening book.");
  expect([...(heatOfHint(corrected)?.keys() ?? [])]).toEqual([3]);
});
