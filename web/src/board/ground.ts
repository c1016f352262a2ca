/** The kind of board under the pieces, and the cells open to the next move. */

import type { Board } from "../api/schema";
import { keyOf } from "./geometry";
import { isBlank, type Content } from "./pieces";

export type Ground =
  | "wells" // round ones, into which stones fall
  | "squares" // flat, with thin lines between
  | "tiles"; // raised, for numbers

export function groundOf(board: Board, contents: readonly (readonly Content[])[]): Ground {
  const kinds = new Set(contents.flat().map(({ kind }) => kind));
  if (kinds.has("number") || kinds.has("dot") || kinds.has("line")) return "tiles";
  if (fall(board)) return "wells";
  const isPlayedOn = kinds.has("stone") || board.actions.flat().some((action) => action >= 0);
  return isPlayedOn ? "squares" : "tiles";
}

/** Whether stones fall: clicking anywhere in a column plays the same move. */
function fall(board: Board): boolean {
  return board.actions.some((actions, row) =>
    actions.some((action, col) => action >= 0 && board.actions[row + 1]?.[col] === action),
  );
}

/**
 * The empty cells that may be played, if they are few enough to be worth highlighting. On a Go
 * board nearly all may be played.
 */
export function openCells(board: Board, isLegal: (action: number) => boolean): Set<string> {
  const empty = board.cells.flatMap((cells, row) =>
    cells.flatMap((text, col) => (isBlank(text) ? [{ row, col }] : [])),
  );
  const open = empty.filter(({ row, col }) => {
    const action = board.actions[row]?.[col] ?? -1;
    return action >= 0 && isLegal(action);
  });
  return new Set(board.layout === "square" && 2 * open.length <= empty.length ? open.map(keyOf) : []);
}

/** A block of cells that belongs to one player as a whole. */
export interface WonBlock {
  row: number;
  col: number;
  player: number; // counted from 1
}

export function wonBlocks({ blocks, cells, owners }: Board): WonBlock[] {
  if (blocks === 0 || owners.length === 0) return [];
  const starts = (length: number) => Array.from({ length: Math.floor(length / blocks) }, (_, at) => at * blocks);
  return starts(cells.length).flatMap((row) =>
    starts(cells[0]?.length ?? 0).flatMap((col) => {
      const inside = owners.slice(row, row + blocks).flatMap((line) => line.slice(col, col + blocks));
      const owner = inside[0] ?? -1;
      return owner >= 0 && inside.every((other) => other === owner) ? [{ row, col, player: owner + 1 }] : [];
    }),
  );
}
