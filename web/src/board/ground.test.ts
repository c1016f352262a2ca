import { expect, test } from "vitest";

import type { Board } from "../api/schema";
import { groundOf, openCells, wonBlocks } from "./ground";
import { contentOf } from "./pieces";
import { plainBoard } from "./plain";

function board(rows: string[], actions: number[][]): Board {
  return plainBoard(
    rows.map((row) => [...row]),
    actions,
  );
}

function ground(one: Board) {
  return groundOf(
    one,
    one.cells.map((row) => row.map((text) => contentOf(text, ["x", "o"]))),
  );
}

test("falling stones have wells, placed stones have squares", () => {
  expect(ground(board(["..", ".x"], [[0, 1], [0, 1]]))).toBe("wells");
  expect(ground(board(["..", ".x"], [[0, 1], [2, 3]]))).toBe("squares");
  expect(ground(board(["ox", ".x"], [[-1, -1], [-1, -1]]))).toBe("squares");
});

test("games with numbers have tiles, even while empty", () => {
  expect(ground(board(["2."], [[-1, -1]]))).toBe("tiles");
  expect(ground(board([".."], [[-1, -1]]))).toBe("tiles");
});

test("open cells are highlighted if they are few", () => {
  const four = board(["x...."], [[0, 1, 2, 3, 4]]);
  expect([...openCells(four, (action) => action > 2)]).toEqual(["0,3", "0,4"]);
  expect(openCells(four, () => true).size).toBe(0);
  expect(openCells({ ...four, layout: "points" }, (action) => action > 3).size).toBe(0);
});

test("a block is won only as a whole", () => {
  const one = board(["..", "..", "..", ".."], [[0, 1], [2, 3], [4, 5], [6, 7]]);
  const owners = [
    [1, 1],
    [1, 1],
    [0, 0],
    [0, -1],
  ];
  expect(wonBlocks({ ...one, blocks: 2, owners })).toEqual([{ row: 0, col: 0, player: 2 }]);
  expect(wonBlocks({ ...one, owners })).toEqual([]);
});
