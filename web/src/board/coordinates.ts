/** The letters and numbers along the edges of a board, if the names of its moves use them. */

import type { Board } from "../api/schema";
import type { Geometry } from "./geometry";

export interface Coordinates {
  columns: string[];
  rows: string[] | null; // null: a move names its column alone
}

const LEAST_PIXELS = 12;

interface Named {
  row: number;
  col: number;
  name: string;
}

/** The coordinates that the game gives, or those derived from the names of its moves. */
export function coordinatesOf(board: Board, names: ReadonlyMap<number, string>): Coordinates | null {
  if (board.columns.length === 0 && board.rows.length === 0) return coordinatesIn(board, names);
  return { columns: board.columns, rows: board.rows.length > 0 ? board.rows : null };
}

/**
 * The coordinates that moves are named by: "b3" for a cell, or "4" for a column.
 *
 * Unknown names are assumed to follow the pattern of the known ones, all of which must fit; null if
 * one does not, or if too few are known.
 */
function coordinatesIn(board: Board, names: ReadonlyMap<number, string>): Coordinates | null {
  const rows = board.cells.length;
  const columns = board.cells[0]?.length ?? 0;
  const cells = board.actions.flatMap((actions, row) =>
    actions.flatMap((action, col): Named[] => {
      const name = names.get(action);
      return name === undefined ? [] : [{ row, col, name }];
    }),
  );
  if (new Set(cells.map(({ name }) => name)).size < 2) return null;
  const fits = (nameAt: (row: number, col: number) => string): boolean =>
    cells.every(({ row, col, name }) => name === nameAt(row, col));
  if (fits((_, col) => numberOf(col))) return { columns: list(columns, numberOf), rows: null };
  if (columns > 26) return null;
  const downwards = numberOf;
  const upwards = (row: number) => numberOf(rows - 1 - row);
  for (const numberAt of [downwards, upwards]) {
    if (fits((row, col) => letterOf(col) + numberAt(row))) {
      return { columns: list(columns, letterOf), rows: list(rows, numberAt) };
    }
  }
  return null;
}

/**
 * The size of the letters in cells: about as large on the screen whatever the board's size, and
 * never too small to read. `room` is the board's width in pixels, 0 while it is not known.
 */
export function sizeOfCoordinates(geometry: Geometry, room: number): number {
  const least = room > 0 ? (LEAST_PIXELS * geometry.width) / room : 0;
  return Math.max(least, 0.02 + 0.025 * geometry.width);
}

/** The width of the longest row name, in multiples of the letter size. */
export function marginOf(coordinates: Coordinates | null): number {
  if (!coordinates?.rows) return 0;
  return 0.5 + Math.max(1.25, ...coordinates.rows.map((name) => (name.length > 2 ? 0.74 : 0.62) * name.length));
}

function list(count: number, labelOf: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => labelOf(index));
}

function letterOf(index: number): string {
  return String.fromCharCode("a".charCodeAt(0) + index);
}

function numberOf(index: number): string {
  return String(index + 1);
}
