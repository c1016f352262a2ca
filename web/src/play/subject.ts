/** What the analysis beside the board is about: which position, and whose opinion. */

import type { Analysis, Position } from "../api/schema";
import type { Analyst } from "./analysis.svelte";
import { keyOf, type Game } from "./game.svelte";

export interface Subject {
  at: number; // after how many moves of the game
  position: Position;
  analysis: Analysis | null; // null: nothing is known yet
  isRunning: boolean;
}

/** The position after the first moves of the line. */
export function positionAt(game: Game, at: number): Position | null {
  const view = game.view;
  if (!view) return null;
  return { game: view.game, setup: view.setup, moves: game.line.slice(0, at).map((move) => move.action) };
}

/** The subject now; null where nobody was asked, or the opponent has not thought yet. */
export function subjectOf(game: Game, analyst: Analyst): Subject | null {
  const position = game.position;
  if (analyst.source === "off" || !position) return null;
  if (analyst.source === "engine") {
    const key = keyOf(position);
    return { at: game.at, position, analysis: analyst.opinionOf(key), isRunning: analyst.isRunning(key) };
  }
  if (game.thinking) return { at: game.at, position, analysis: game.thinking.analysis, isRunning: true };
  for (let at = game.at; at >= 0; at -= 1) {
    const earlier = positionAt(game, at);
    const analysis = earlier && game.thoughts.get(keyOf(earlier));
    if (analysis) return { at, position: earlier, analysis, isRunning: false };
  }
  return null;
}

/** The finished opinions along the line, by the number of moves before them. */
export function opinionsAlong(game: Game, analyst: Analyst): (Analysis | null)[] {
  return Array.from({ length: game.line.length + 1 }, (_, at) => {
    const position = positionAt(game, at);
    if (!position) return null;
    const key = keyOf(position);
    if (analyst.source === "engine") return analyst.finishedOpinionOf(key);
    return game.thoughts.get(key) ?? null;
  });
}
