import { expect, test } from "vitest";

import type { Generation, RunInfo } from "../api/schema";
import { gapsIn, hasGoneBack, mergeGenerations } from "./merging";

function generations(...numbers: number[]): Generation[] {
  return numbers.map((generation) => ({ generation, step: generation * 10, numbers: { loss: generation } }));
}

function info(generation: number): RunInfo {
  return {
    run: "one",
    game: "tic-tac-toe",
    state: "running",
    message: "",
    generation,
    generations: 0,
    seconds: 0,
    minutes: 0,
    games: 0,
    positions: 0,
    steps: [],
    can_control: true,
    latest: null,
  };
}

function numbersOf(list: readonly Generation[]): number[] {
  return list.map((one) => one.generation);
}

test("new generations are appended", () => {
  expect(numbersOf(mergeGenerations(generations(1, 2), generations(3, 4)))).toEqual([1, 2, 3, 4]);
});

test("a generation that arrives twice is listed once, in its latest form", () => {
  const again = [{ generation: 2, step: 99, numbers: {} }];
  const merged = mergeGenerations(generations(1, 2, 3), again);
  expect(numbersOf(merged)).toEqual([1, 2, 3]);
  expect(merged[1]?.step).toBe(99);
});

test("pieces in any order are sorted", () => {
  expect(numbersOf(mergeGenerations(generations(4, 5), generations(3, 1, 2)))).toEqual([1, 2, 3, 4, 5]);
});

test("missed generations are noticed", () => {
  expect(gapsIn(generations(1, 2, 3), info(3))).toEqual([]);
  expect(gapsIn(generations(1, 2, 3), info(5))).toEqual([3]);
  expect(gapsIn(generations(1, 2, 4), info(4))).toEqual([2]);
  expect(gapsIn(generations(2, 5), info(7))).toEqual([2, 5]);
  expect(gapsIn([], info(0))).toEqual([]);
});

test("a run that resumes from an earlier generation is noticed", () => {
  expect(hasGoneBack(generations(1, 2, 3), info(3), info(2))).toBe(true);
  expect(hasGoneBack(generations(1, 2, 3), info(3), info(3))).toBe(false);
  expect(hasGoneBack(generations(1, 2, 3), undefined, info(2))).toBe(false);
});
