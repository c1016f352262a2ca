import { expect, test } from "vitest";

import { editCell } from "./setup";

const DOTS = [
  ["+", " ", "+"],
  [" ", " ", " "],
  ["+", " ", "+"],
];

test("a click places a piece, and a second one removes it", () => {
  const once = editCell([[".", "."]], 0, 1, "x", ".");
  expect(once).toEqual([[".", "x"]]);
  expect(editCell(once, 0, 1, "x", ".")).toEqual([[".", "."]]);
});

test("another piece replaces the first", () => {
  expect(editCell([["x"]], 0, 0, "o", ".")).toEqual([["o"]]);
});

test("a click between dots draws the line that fits there, whatever the piece", () => {
  expect(editCell(DOTS, 0, 1, "|", " ")[0]).toEqual(["+", "-", "+"]);
  expect(editCell(DOTS, 1, 0, "x", " ")[1]).toEqual(["|", " ", " "]);
});

test("dots stay, and boxes hold no lines", () => {
  expect(editCell(DOTS, 0, 0, "x", " ")).toEqual(DOTS);
  expect(editCell(DOTS, 1, 1, "-", " ")).toEqual(DOTS);
  expect(editCell(DOTS, 1, 1, "x", " ")[1]).toEqual([" ", "x", " "]);
});
