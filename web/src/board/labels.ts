/** Labels of cells for screen readers. */

import type { Board, Place } from "../api/schema";
import { keyOf } from "./geometry";
import { wordsFor, type Content } from "./pieces";

/** What the board knows about a cell besides its content. */
export interface CellFacts {
  move: string | null; // the name of its move
  share: string | null; // the search's share for that move
  step: "can move" | "picked up" | null;
  isMarked: "in the winning line" | "marked" | null;
}

export function labelOf(board: Board, { row, col }: Place, content: Content, facts: CellFacts): string {
  const key = keyOf({ row, col });
  const isHere = (place: Place): boolean => keyOf(place) === key;
  const shown = board.shapes.find(
    ({ kind, points }) => kind === "piece" && isHere({ row: Math.round(points[0]?.row ?? -1), col: Math.round(points[0]?.col ?? -1) }),
  );
  const owner = board.owners[row]?.[col] ?? -1;
  const parts = [
    `row ${row + 1}, column ${col + 1}`,
    wordsFor(content, board.cells[row]?.[col] ?? ""),
    board.captions.find(isHere)?.text,
    shown?.text,
    owner >= 0 ? `won by player ${owner + 1}` : null,
    facts.move === null ? facts.step : `move ${facts.move}`,
    facts.share,
    (board.last.length > 0 ? board.last.slice(-1) : board.changed).some(isHere) ? "last move" : null,
    facts.isMarked,
  ];
  return parts.filter(Boolean).join(", ");
}
