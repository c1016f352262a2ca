import { expect, test } from "vitest";

import { editCell } from "./setup";

const DOTS = [
  ["+", " ", "+"],
  [" ", " ", " "],
  ["+", " ", "+"],
];

test("a click puts a piece down, and a second one takes it away", () => {
  const once = editCell([[".", "."]], 0, 1, "x", ".");
  expect(once).toEqual([[".", "x"]]);
  expect(editCell(once, 0, 1, "x", ".")).toEqual([[".", "."]]);
});

test("another piece takes the place of the first", () => {
  expect(editCell([["x"]], 0, 0, "o", ".")).toEqual([["o"]]);
});

test("the place of a line gets the line that fits there, whatever the piece", () => {
  expect(editCell(DOTS, 0, 1, "|", " ")[0]).toEqual(["+", "-", "+"]);
  expect(editCell(DOTS, 1, 0, "x", " ")[1]).toEqual(["|", " ", " "]);
});

test("dots stay, and no line goes through a box", () => {
  expect(editCell(DOTS, 0, 0, "x", " ")).toEqual(DOTS);
  expect(editCell(DOTS, 1, 1, "-", " ")).toEqual(DOTS);
  expect(editCell(DOTS, 1, 1, "x", " ")[1]).toEqual([" ", "x", " "]);
});
