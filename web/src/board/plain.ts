import type { Board } from "../api/schema";

/** A board with cells and nothing else. */
export function plainBoard(cells: string[][], actions: number[][], layout: Board["layout"] = "square"): Board {
  return {
    layout,
    cells,
    actions,
    marks: [],
    changed: [],
    last: [],
    steps: [],
    columns: [],
    rows: [],
    edges: [],
    blocks: 0,
    owners: [],
    captions: [],
    shapes: [],
  };
}
