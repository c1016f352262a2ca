import { describe, expect, it } from "vitest";

import type { Board } from "../api/schema";
import { coordinatesOf } from "./coordinates";
import { plainBoard } from "./plain";

function boardOf(actions: number[][]): Board {
  const cells = actions.map((row) => row.map(() => "."));
  return plainBoard(cells, actions);
}

const square = boardOf([
  [0, 1],
  [2, 3],
]);

describe("coordinates", () => {
  it("are letters and numbers if cells are named that way", () => {
    const names = new Map([
      [0, "a1"],
      [1, "b1"],
      [2, "a2"],
    ]);
    expect(coordinatesOf(square, names)).toEqual({ columns: ["a", "b"], rows: ["1", "2"] });
  });

  it("count upwards if the names do", () => {
    const names = new Map([
      [0, "a2"],
      [3, "b1"],
    ]);
    expect(coordinatesOf(square, names)).toEqual({ columns: ["a", "b"], rows: ["2", "1"] });
  });

  it("are only column numbers if moves are", () => {
    const columns = boardOf([
      [0, 1],
      [0, 1],
    ]);
    const names = new Map([
      [0, "1"],
      [1, "2"],
    ]);
    expect(coordinatesOf(columns, names)).toEqual({ columns: ["1", "2"], rows: null });
  });

  it("are omitted if one name does not fit", () => {
    const names = new Map([
      [0, "a1"],
      [1, "b1"],
      [2, "a1-a2"],
    ]);
    expect(coordinatesOf(square, names)).toBeNull();
    expect(coordinatesOf(square, new Map([[0, "a1"]]))).toBeNull();
  });
});
