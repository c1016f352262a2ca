/** What happens in a phase of a simulation, in a sentence or two. */

import type { StepView } from "../api/schema";
import { signed } from "../numbers";
import type { Evaluator } from "./settings";

export function wordsOf(
  step: StepView,
  phase: number,
  evaluator: Evaluator,
  titles: readonly string[], // of the players
): string {
  const last = step.moves.at(-1)?.name ?? "";
  switch (phase) {
    case 0:
      return `Down from the root, each time along the move with the largest Q + U: ${way(step)}.`;
    case 1:
      return expansion(step, last);
    case 2:
      return evaluation(step, evaluator);
    default:
      return backup(step, titles);
  }
}

function way(step: StepView): string {
  const names = step.moves.map((move) => move.name);
  return names.length > 8 ? `${names.slice(0, 7).join(", ")}, … ${names.at(-1)}` : names.join(", ");
}

function expansion(step: StepView, last: string): string {
  switch (step.kind) {
    case "expanded":
      return `${last} has not been tried here before: a new node joins the tree.`;
    case "finished":
      return `The game is over after ${last}, so there is nothing to add.`;
    case "proven":
      return `The outcome after ${last} is proven, so there is nothing to add.`;
    case "not kept":
      return `The tree is full: the position after ${last} is looked at, but not kept.`;
  }
}

function evaluation(step: StepView, evaluator: Evaluator): string {
  if (step.kind === "finished") return "The result of the game is its value.";
  if (step.kind === "proven") return "The proven outcome is its value.";
  switch (evaluator) {
    case "rollout":
      return "Random moves are played to the end of a game; its result is the value.";
    case "uniform":
      return "Nothing is known of the position: it counts as even, and all its moves as equally likely.";
    case "network":
    case "shipped":
      return "The network looks at the position: it says how likely each move is, and who is ahead.";
  }
}

function backup(step: StepView, titles: readonly string[]): string {
  const values = step.values.map((value, player) => `${signed(value)} for ${titles[player] ?? player + 1}`);
  return `Every node on the way counts one visit more, and its mover's value is added: ${values.join(", ")}.`;
}
