/** What the analysis panel shows: which position, and whose analysis. */

import type { Analysis, Position } from "../api/schema";
import type { Analyst } from "./analysis.svelte";
import type { Game } from "./game.svelte";
import { keyOf, keysAlong } from "./line";

export interface Subject {
  at: number; // number of moves before it
  position: Position;
  analysis: Analysis | null; // null: none yet
  isRunning: boolean;
}

/** The current subject; null if there is no analysis, or the opponent has not searched yet. */
export function subjectOf(game: Game, analyst: Analyst): Subject | null {
  const position = game.position;
  if (analyst.source === "off" || !position) return null;
  if (analyst.source === "own") {
    const key = keyOf(position);
    return { at: game.at, position, analysis: analyst.analysisOf(key), isRunning: analyst.isRunning(key) };
  }
  if (game.thinking) return { at: game.at, position, analysis: game.thinking.analysis, isRunning: true };
  const analyses = keysAlong(position).map((key) => game.analyses.get(key));
  const at = analyses.findLastIndex((analysis) => analysis !== undefined);
  if (at < 0) return null;
  const moves = position.moves?.slice(0, at) ?? [];
  return { at, position: { ...position, moves }, analysis: analyses[at] ?? null, isRunning: false };
}

/** The finished analyses along the line, by the number of moves before them. */
export function analysesAlong(game: Game, analyst: Analyst): (Analysis | null)[] {
  if (!game.position) return [];
  const moves = game.line.map((move) => move.action);
  return keysAlong({ ...game.position, moves }).map((key) =>
    analyst.source === "own" ? analyst.finishedAnalysisOf(key) : (game.analyses.get(key) ?? null),
  );
}
