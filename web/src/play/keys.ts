/** Keyboard commands of the Play view. */

import type { Board } from "../api/schema";

export type Command =
  | "back"
  | "forward"
  | "first"
  | "last"
  | "undo"
  | "redo"
  | "take-back"
  | "hint"
  | "new"
  | "swap"
  | "pause"
  | "edit"
  | "analysis"
  | "share"
  | "help";

export interface Shortcut {
  keys: readonly string[];
  shown: string;
  command: Command;
  text: string;
}

const DIRECTIONS: Record<string, string> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

export const shortcuts: readonly Shortcut[] = [
  { keys: ["ArrowLeft", ","], shown: "← or ,", command: "back", text: "One move back" },
  { keys: ["ArrowRight", "."], shown: "→ or .", command: "forward", text: "One move forward" },
  { keys: ["Home"], shown: "Home", command: "first", text: "First position" },
  { keys: ["End"], shown: "End", command: "last", text: "Latest move" },
  { keys: ["u"], shown: "u", command: "undo", text: "Undo one move" },
  { keys: ["r"], shown: "r", command: "redo", text: "Redo" },
  { keys: ["t"], shown: "t", command: "take-back", text: "Take back your last move" },
  { keys: ["h"], shown: "h", command: "hint", text: "Show a hint" },
  { keys: ["n"], shown: "n", command: "new", text: "New game…" },
  { keys: ["s"], shown: "s", command: "swap", text: "Swap sides" },
  { keys: ["p"], shown: "p", command: "pause", text: "Pause or resume the opponent" },
  { keys: ["e"], shown: "e", command: "edit", text: "Set up a position" },
  { keys: ["a"], shown: "a", command: "analysis", text: "Analysis on or off" },
  { keys: ["l"], shown: "l", command: "share", text: "Share, save and open" },
  { keys: ["?"], shown: "?", command: "help", text: "Show this list" },
];

/** The command of a key; null if it has none, belongs to something else, or letter keys are off. */
export function commandOf(event: KeyboardEvent, hasLetters: boolean): Command | null {
  if (isTaken(event) || (event.key.length === 1 && !hasLetters)) return null;
  return shortcuts.find(({ keys }) => keys.includes(event.key))?.command ?? null;
}

/** The direction of an arrow key, for games whose moves are directions. */
export function directionOf(event: KeyboardEvent): string | null {
  return isTaken(event) ? null : (DIRECTIONS[event.key] ?? null);
}

/** Whether the moves that are not made on the board are directions. */
export function isOfDirections(names: ReadonlyMap<number, string>, board: Board | null): boolean {
  const onBoard = new Set(board?.actions.flat());
  const directions = new Set(Object.values(DIRECTIONS));
  return [...names].some(([action, name]) => !onBoard.has(action) && directions.has(name));
}

/** Whether a key belongs to a field, a dialog, the board or the browser. */
export function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (document.querySelector("dialog[open]")) return true;
  const target = event.target instanceof Element ? event.target : null;
  return target?.closest("input:not([type=checkbox]), select, textarea, [role=tablist]") != null;
}
