/** Describes a phase of a simulation in a sentence or two. */

import type { SimulationView } from "../api/schema";
import { signed } from "../numbers";
import type { Evaluator } from "./settings";

export function wordsOf(
  step: SimulationView,
  phase: number,
  evaluator: Evaluator,
  titles: readonly string[], // of the players
): string {
  const last = step.moves.at(-1)?.name ?? "";
  switch (phase) {
    case 0:
      return `Down from the root, always along the move with the largest Q + U: ${way(step)}.`;
    case 1:
      return expansion(step, last);
    case 2:
      return evaluation(step, evaluator);
    default:
      return backup(step, titles);
  }
}

function way(step: SimulationView): string {
  const names = step.moves.map((move) => move.name);
  return names.length > 8 ? `${names.slice(0, 7).join(", ")}, … ${names.at(-1)}` : names.join(", ");
}

function expansion(step: SimulationView, last: string): string {
  switch (step.kind) {
    case "expanded":
      return `${last} is untried here: a new node joins the tree.`;
    case "finished":
      return `The game is over after ${last}, so there is nothing to add.`;
    case "proven":
      return `The outcome after ${last} is proven, so there is nothing to add.`;
    case "not kept":
      return `The tree is full: the position after ${last} is evaluated but not stored.`;
  }
}

function evaluation(step: SimulationView, evaluator: Evaluator): string {
  if (step.kind === "finished") return "The result of the game is its value.";
  if (step.kind === "proven") return "The proven outcome is its value.";
  switch (evaluator) {
    case "rollout":
      return "Random moves are played to the end of a game; its result is the value.";
    case "uniform":
      return "Nothing is known about the position: value 0, and all moves equally likely.";
    case "network":
    case "bundled":
      return "The network evaluates the position: a probability for each move, and a value.";
  }
}

function backup(step: SimulationView, titles: readonly string[]): string {
  const values = step.values.map((value, player) => `${signed(value)} for ${titles[player] ?? player + 1}`);
  return `Each node on the path gains one visit and its player's result: ${values.join(", ")}.`;
}
