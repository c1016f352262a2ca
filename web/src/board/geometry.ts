/** The geometry of cells, in units of one cell. */

import type { Board, Place, Step } from "../api/schema";
import { isBlank } from "./pieces";

export interface CellBox {
  row: number;
  col: number;
  x: number; // left edge
  y: number; // top edge
  width: number;
  height: number;
  centreX: number;
  centreY: number;
  isThinRow: boolean; // a line across runs here
  isThinCol: boolean;
}

export interface Geometry {
  width: number;
  height: number;
  boxes: CellBox[][];
  isLined: boolean; // as in Dots and Boxes, with thin rows and columns
}

const THIN = 0.34;
const HEX_ROW = Math.sqrt(3) / 2;

export function geometryOf(board: Board): Geometry {
  const columns = board.cells[0]?.length ?? 0;
  const thinRows = board.cells.map(isThin);
  const thinCols = Array.from({ length: columns }, (_, col) =>
    isThin(board.cells.map((row) => row[col] ?? "")),
  );
  const isHex = board.layout === "hex";
  const heights = thinRows.map((thin) => (isHex ? HEX_ROW : thin ? THIN : 1));
  const widths = thinCols.map((thin) => (thin && !isHex ? THIN : 1));
  const tops = runningSums(heights);
  const lefts = runningSums(widths);
  const boxes = board.cells.map((cells, row) =>
    cells.map((_, col): CellBox => {
      const x = (lefts[col] ?? 0) + (isHex ? row / 2 : 0);
      const y = tops[row] ?? 0;
      const width = widths[col] ?? 1;
      const height = isHex ? 2 / Math.sqrt(3) : (heights[row] ?? 1);
      return {
        row,
        col,
        x,
        y,
        width,
        height,
        centreX: x + width / 2,
        centreY: y + height / 2,
        isThinRow: thinRows[row] ?? false,
        isThinCol: thinCols[col] ?? false,
      };
    }),
  );
  const extraHeight = isHex ? 2 / Math.sqrt(3) - HEX_ROW : 0;
  return {
    width: sum(widths) + (isHex ? (board.cells.length - 1) / 2 : 0),
    height: sum(heights) + extraHeight,
    boxes,
    isLined: thinRows.some(Boolean) && thinCols.some(Boolean),
  };
}

/** The cell where each action would appear: its last blank cell, so that stones fall down. */
export function landingsOf(board: Board): Map<number, Place> {
  const landings = new Map<number, Place & { isBlank: boolean }>();
  board.actions.forEach((actions, row) =>
    actions.forEach((action, col) => {
      if (action < 0) return;
      const blank = isBlank(board.cells[row]?.[col] ?? "");
      const known = landings.get(action);
      if (!known || blank || !known.isBlank) landings.set(action, { row, col, isBlank: blank });
    }),
  );
  return landings;
}

export function keyOf({ row, col }: Place): string {
  return `${row},${col}`;
}

/** The action from the selected cell to each cell it can reach. */
export function endsOf(steps: readonly Step[], taken: Place | null): Map<string, number> {
  const from = taken ? steps.filter(({ start }) => keyOf(start) === keyOf(taken)) : [];
  return new Map(from.map(({ action, end }) => [keyOf(end), action]));
}

/** A hexagon that stands on its point, as an SVG path. */
export function hexagon(box: CellBox, scale = 1): string {
  return `M${[0, 1, 2, 3, 4, 5].map((corner) => cornerOf(box, corner, scale)).join("L")}Z`;
}

/** The top, right, bottom and left edge of a board, as SVG paths. */
export function edgesOf({ boxes, width, height }: Geometry, isHex: boolean): string[] {
  if (!isHex) return [`M0 0H${width}`, `M${width} 0V${height}`, `M0 ${height}H${width}`, `M0 0V${height}`];
  const along = (cells: readonly CellBox[], corners: readonly number[]): string =>
    cells.map((box) => `M${corners.map((corner) => cornerOf(box, corner)).join("L")}`).join("");
  const first = boxes[0] ?? [];
  const last = boxes.at(-1) ?? [];
  // The side of a hexagon at an acute corner of the board lies on two edges; each gets one half.
  return [
    along(first.slice(0, -1), [3, 4, 5]) + along(first.slice(-1), [3, 4]),
    along(boxes.flatMap((row) => row.slice(-1)), [4, 5, 0]),
    along(last.slice(1), [0, 1, 2]) + along(last.slice(0, 1), [0, 1]),
    along(boxes.flatMap((row) => row.slice(0, 1)), [1, 2, 3]),
  ];
}

/** A corner of a hexagon, clockwise from the lower right. */
function cornerOf(box: CellBox, corner: number, scale = 1): string {
  const radius = scale / Math.sqrt(3);
  const angle = (Math.PI / 3) * corner + Math.PI / 6;
  const x = box.centreX + radius * Math.cos(angle);
  const y = box.centreY + radius * Math.sin(angle);
  return `${x.toFixed(3)} ${y.toFixed(3)}`;
}

/** The star points of a Go board, for square boards with an odd number of lines from 9. */
export function starPoints(rows: number, columns: number): Place[] {
  if (rows !== columns || rows < 9 || rows % 2 === 0) return [];
  const edge = rows >= 13 ? 3 : 2;
  const middle = (rows - 1) / 2;
  const stops = rows >= 15 ? [edge, middle, rows - 1 - edge] : [edge, rows - 1 - edge];
  const points = stops.flatMap((row) => stops.map((col) => ({ row, col })));
  return rows >= 15 ? points : [...points, { row: middle, col: middle }];
}

/** The two ends of the straight line formed by marked cells, or null. */
export function lineThrough(marks: readonly Place[]): [Place, Place] | null {
  if (marks.length < 3) return null;
  const sorted = [...marks].sort((a, b) => a.row - b.row || a.col - b.col);
  const start = sorted[0];
  const end = sorted.at(-1);
  if (!start || !end) return null;
  const down = end.row - start.row;
  const right = end.col - start.col;
  const isStraight = sorted.every(
    (mark) => (mark.row - start.row) * right === (mark.col - start.col) * down,
  );
  return isStraight ? [start, end] : null;
}

function isThin(cells: readonly string[]): boolean {
  const dots = cells.filter((cell) => cell === "+").length; // a single one means something else
  return dots > 1 && cells.every((cell) => isBlank(cell) || "+-|".includes(cell));
}

function runningSums(sizes: readonly number[]): number[] {
  let total = 0;
  return sizes.map((size) => {
    total += size;
    return total - size;
  });
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
