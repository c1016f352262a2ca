import { expect, test } from "vitest";

import type { RecordedMove } from "../api/schema";
import { heatOf, topShares } from "./replaying";

function recorded(shares: number[], played: number): RecordedMove {
  return {
    move: { action: played, name: String(played), player: 0 },
    policy: shares.flatMap((share, action) => (share > 0 ? [{ action, name: String(action), share }] : [])),
    values: [0, 0],
    is_target: true,
    is_opening: false,
  };
}

test("the largest shares come first, and the move played is always included", () => {
  const { rows, rest, others } = topShares(recorded([0.1, 0.5, 0.05, 0.3, 0.05], 4), 2);
  expect(rows.map((row) => row.action)).toEqual([1, 3, 4]);
  expect(rows.map((row) => row.isPlayed)).toEqual([false, false, true]);
  expect(rest).toBeCloseTo(0.15);
  expect(others).toBe(2);
});

test("a move without visits that was played is listed with share 0", () => {
  const { rows } = topShares(recorded([0.6, 0.4, 0], 2), 5);
  expect(rows.at(-1)).toEqual({ action: 2, name: "2", share: 0, isPlayed: true });
});

test("a move that was not searched has no shares", () => {
  expect(topShares(recorded([], 3), 5)).toEqual({ rows: [], rest: 0, others: 0 });
  expect(heatOf(recorded([], 3)).size).toBe(0);
});

test("only moves with a visible share are drawn", () => {
  expect([...heatOf(recorded([0.9997, 0.0003], 0)).keys()]).toEqual([0]);
});
