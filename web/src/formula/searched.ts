/** The moves of a real position after a search. */

import { api } from "../api/client";
import type { Analysis, Position, RunInfo, SearchAgent } from "../api/schema";
import type { FormulaState } from "./address";
import { defaults } from "./settings";

/** The evaluator: random games, uniform, the bundled network, or a run's network by name. */
export type Searching = "rollout" | "uniform" | "bundled" | `run:${string}`;

export interface Searched {
  analysis: Analysis;
  state: FormulaState;
}

/** The runs that can search a position. */
export function runsFor(position: Position, runs: readonly RunInfo[]): RunInfo[] {
  return runs.filter((run) => run.game === position.game && run.steps.length > 0);
}

export function readSearching(text: string | null): Searching {
  if (text === "uniform" || text === "bundled") return text;
  return text?.startsWith("run:") ? (text as Searching) : "rollout";
}

/** Searches the position and turns its moves into children of the formula that was used. */
export async function searchPosition(
  position: Position,
  by: Searching,
  simulations: number,
  signal?: AbortSignal,
): Promise<Searched> {
  const { analysis } = await api.search({ position, agent: agentFor(by, simulations) }, signal);
  return { analysis, state: stateOf(analysis, by) };
}

/** Proofs are off, so that every Q is a plain mean; the selection is the one shown on the page. */
function agentFor(by: Searching, simulations: number): SearchAgent {
  const selection = selectionOf(by);
  const shared = { kind: "search", simulations, options: { selection, proven_values: false } } as const;
  if (by === "rollout" || by === "uniform" || by === "bundled") return { ...shared, evaluator: by };
  return { ...shared, evaluator: "network", run: by.slice("run:".length) };
}

function stateOf(analysis: Analysis, by: Searching): FormulaState {
  const parentValue = Math.min(1, Math.max(-1, analysis.value ?? 0));
  const children = analysis.moves.map((move) => ({
    name: move.name,
    prior: move.prior ?? 1 / analysis.moves.length,
    visits: move.visits ?? 0,
    q: move.q ?? 0,
  }));
  const settings = { ...defaults, selection: selectionOf(by), parent_value: parentValue };
  return { preset: "", settings, children, order: [], valueAfter: parentValue };
}

function selectionOf(by: Searching): "uct" | "puct" {
  return by === "rollout" ? "uct" : "puct";
}
