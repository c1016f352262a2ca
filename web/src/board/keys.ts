/** How keys move the focus over a board. */

import type { Place } from "../api/schema";

/** The next cell, or null if the key does not move; Home and End go along the row. */
export function moveFocus(
  key: string,
  hasControl: boolean,
  from: Place,
  cells: readonly (readonly string[])[],
): Place | null {
  const lastRow = cells.length - 1;
  const lastCol = (cells[0]?.length ?? 1) - 1;
  switch (key) {
    case "ArrowUp":
      return { row: Math.max(0, from.row - 1), col: from.col };
    case "ArrowDown":
      return { row: Math.min(lastRow, from.row + 1), col: from.col };
    case "ArrowLeft":
      return { row: from.row, col: Math.max(0, from.col - 1) };
    case "ArrowRight":
      return { row: from.row, col: Math.min(lastCol, from.col + 1) };
    case "Home":
      return hasControl ? { row: 0, col: 0 } : { row: from.row, col: 0 };
    case "End":
      return hasControl ? { row: lastRow, col: lastCol } : { row: from.row, col: lastCol };
    default:
      return null;
  }
}
