import { expect, test } from "vitest";

import type { PositionOverTime } from "../api/schema";
import { bestOutcome, curvePoints, historiesOf, rightShares } from "./positionOverTime";

const moves = ["1", "2", "3"].map((name, action) => ({ action, name, player: 0 }));
const overTime: PositionOverTime = {
  moves,
  checkpoints: [
    { step: 0, generation: 0, value: 0, policy: [0.3, 0.3, 0.4] },
    { step: 10, generation: 1, value: 0.2, policy: [0.1, 0.7, 0.2] },
  ],
  outcomes: [
    { action: 0, name: "1", outcome: 0 },
    { action: 1, name: "2", outcome: -1 },
    { action: 2, name: "3", outcome: 0 },
  ],
};

test("moves that mattered most come first, with their history", () => {
  const histories = historiesOf(overTime);
  expect(histories.map((one) => one.move.name)).toEqual(["2", "3", "1"]);
  expect(histories[0]?.shares).toEqual([0.3, 0.7]);
});

test("right moves have the best result, even if it is a draw", () => {
  expect(bestOutcome(overTime)).toBe(0);
  expect(historiesOf(overTime).map((one) => one.isRight)).toEqual([false, true, true]);
  const [before, after] = rightShares(overTime) ?? [];
  expect(before).toBeCloseTo(0.7);
  expect(after).toBeCloseTo(0.3);
});

test("without a solution no move is right", () => {
  const unknown = { ...overTime, outcomes: [] };
  expect(rightShares(unknown)).toBeNull();
  expect(historiesOf(unknown).some((one) => one.isRight)).toBe(false);
});

test("no move is right if all lead to the same result", () => {
  const outcomes = overTime.outcomes.map((one) => ({ ...one, outcome: -1 as const }));
  expect(bestOutcome({ ...overTime, outcomes })).toBe(-1);
  expect(rightShares({ ...overTime, outcomes })).toBeNull();
});

test("a curve goes from the left edge to the right, and up for larger shares", () => {
  expect(curvePoints([0, 1, 0.5], 10, 4)).toEqual([
    [0, 4],
    [5, 0],
    [10, 2],
  ]);
});
