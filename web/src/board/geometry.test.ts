import { expect, test } from "vitest";

import type { Board } from "../api/schema";
import { geometryOf, landingsOf, lineThrough, starPoints } from "./geometry";
import { plainBoard } from "./plain";

function board(rows: string[], actions: number[][], layout: Board["layout"] = "square"): Board {
  return plainBoard(
    rows.map((row) => [...row]),
    actions,
    layout,
  );
}

test("rows and columns of dots and lines are thin", () => {
  const geometry = geometryOf(board(["+-+ +", "|x| |", "+ + +"], []));
  expect(geometry.isLined).toBe(true);
  expect(geometry.boxes[1]?.[1]?.width).toBe(1);
  expect(geometry.boxes[0]?.[0]?.height).toBeLessThan(0.5);
  expect(geometry.boxes[0]?.[1]).toMatchObject({ isThinRow: true, isThinCol: false });
});

test("a board of stones has no thin rows", () => {
  const geometry = geometryOf(board(["x.o", "..."], []));
  expect(geometry).toMatchObject({ width: 3, height: 2, isLined: false });
});

test("each row of hexagons starts half a cell further right", () => {
  const geometry = geometryOf(board(["..", "..", ".."], [], "hex"));
  expect(geometry.boxes[2]?.[0]?.x).toBe(1);
  expect(geometry.width).toBe(3);
});

test("a stone lands in the lowest free cell of its column", () => {
  const landings = landingsOf(board(["..", ".x", "ox"], [[0, 1], [0, 1], [0, 1]]));
  expect(landings.get(0)).toMatchObject({ row: 1, col: 0 });
  expect(landings.get(1)).toMatchObject({ row: 0, col: 1 });
});

test("only marks in a row form a straight line", () => {
  const line = [2, 0, 1].map((at) => ({ row: at, col: at }));
  expect(lineThrough(line)).toEqual([{ row: 0, col: 0 }, { row: 2, col: 2 }]);
  expect(lineThrough([...line, { row: 2, col: 0 }])).toBeNull();
  expect(lineThrough(line.slice(1))).toBeNull();
});

test("a Go board has its nine star points, a smaller one five", () => {
  expect(starPoints(19, 19)).toHaveLength(9);
  expect(starPoints(19, 19)).toContainEqual({ row: 3, col: 15 });
  expect(starPoints(9, 9)).toHaveLength(5);
  expect(starPoints(8, 8)).toHaveLength(0);
});
