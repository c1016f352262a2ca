import { expect, test } from "vitest";

import { choice, flag, linkTo, number, numbers, optionalNumber, text } from "./addresses";

test("an address omits empty values", () => {
  const query = { game: "connect-four", run: "", moves: [], step: null, open: false };
  expect(linkTo("/play", query)).toBe("#/play?game=connect-four");
});

test("moves are separated by commas", () => {
  expect(linkTo("/play", { moves: [3, 3, 0] })).toBe("#/play?moves=3,3,0");
});

test("moves are read back, and anything else is skipped", () => {
  expect(numbers()("3,3,x,-1,0")).toEqual([3, 3, 0]);
  expect(numbers()(null)).toEqual([]);
});

test("a number is clamped to its limits", () => {
  expect(number(5, 1, 10)("400")).toBe(10);
  expect(number(5, 1, 10)("many")).toBe(5);
  expect(number(5, 1, 10)(null)).toBe(5);
  expect(optionalNumber()("")).toBeNull();
});

test("only valid choices are read", () => {
  expect(choice(["x", "o"], "x")("o")).toBe("o");
  expect(choice(["x", "o"], "x")("z")).toBe("x");
});

test("text and flags are read", () => {
  expect(text("connect-four")(null)).toBe("connect-four");
  expect(flag()("1")).toBe(true);
  expect(flag()(null)).toBe(false);
});
