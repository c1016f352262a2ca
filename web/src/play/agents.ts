/** The agents that people can choose to play or analyse, and the server's form of each. */

import type { Agent, Limits, RunInfo, View } from "../api/schema";
import type { QueryValue } from "../addresses";
import { short } from "../numbers";

export const KINDS = ["uct", "puct", "threats", "bundled", "guided", "network", "alphabeta", "perfect", "random"] as const;
export type Kind = (typeof KINDS)[number];

export interface AgentChoice {
  kind: Kind;
  run: string; // of guided and network
  step: number | null; // null: always the newest weights
  budget: "simulations" | "seconds";
  simulations: number;
  seconds: number;
  depth: number; // of alphabeta
  proves: boolean; // whether a search also proves values
}

export const titles: Record<Kind, string> = {
  uct: "UCT: random playouts",
  puct: "PUCT: equal priors",
  threats: "Threat patterns with search",
  bundled: "Bundled network with search",
  guided: "Network with search",
  network: "Network without search",
  alphabeta: "Alpha-beta",
  perfect: "Perfect play",
  random: "Random moves",
};

export const explanations: Record<Kind, string> = {
  uct: "Evaluates positions by random games. Needs no training.",
  puct: "Equal priors and no evaluation before the end of the game: the bare search.",
  threats: "Recognises winning patterns and searches ahead. Strong without training.",
  bundled: "The trained network bundled with PlainZero, with search.",
  guided: "A trained network suggests moves and evaluates positions, with search.",
  network: "Plays the network’s first choice.",
  alphabeta: "Searches to a fixed depth, like classic chess programs.",
  perfect: "Never gives away a win or a draw.",
  random: "Any legal move. Easy to beat.",
};

export const DEFAULT_CHOICE: AgentChoice = {
  kind: "uct",
  run: "",
  step: null,
  budget: "simulations",
  simulations: 800,
  seconds: 2,
  depth: 6,
  proves: true,
};

const EVALUATORS = { uct: "rollout", puct: "uniform", threats: "threats", bundled: "bundled", guided: "network" } as const;

export function isSearch(kind: Kind): boolean {
  return kind in EVALUATORS;
}

export function usesRun(kind: Kind): boolean {
  return kind === "guided" || kind === "network";
}

/** The agent in the server's form, within its limits. */
export function toAgent(choice: AgentChoice, limits: Limits, canProve: boolean): Agent {
  switch (choice.kind) {
    case "network":
      return { kind: "network", run: choice.run, step: choice.step };
    case "alphabeta":
      return { kind: "alphabeta", depth: Math.min(choice.depth, limits.depth) };
    case "perfect":
    case "random":
      return { kind: choice.kind };
    default:
      return {
        kind: "search",
        evaluator: EVALUATORS[choice.kind],
        ...(choice.kind === "guided" ? { run: choice.run, step: choice.step } : {}),
        simulations:
          choice.budget === "simulations" ? Math.min(choice.simulations, limits.simulations) : 0,
        seconds: choice.budget === "seconds" ? Math.min(choice.seconds, limits.seconds) : 0,
        options: choice.proves && canProve ? { proven_values: true } : {},
      };
  }
}

/** What decides which agents can play a game. */
export type Known = Pick<View, "has_perfect" | "has_threats" | "has_bundled_network" | "num_players">;

export const NOTHING_KNOWN: Known = {
  has_perfect: false,
  has_threats: false,
  has_bundled_network: false,
  num_players: 2,
};

/** The choices for a game: runs must be of that game and have weights; perfect play needs a solver. */
export function kindsFor(runs: readonly RunInfo[], known: Known): Kind[] {
  return KINDS.filter((kind) => {
    if (usesRun(kind)) return runs.length > 0;
    if (kind === "perfect") return known.has_perfect;
    if (kind === "threats") return known.has_threats;
    if (kind === "bundled") return known.has_bundled_network;
    if (kind === "alphabeta") return known.num_players === 2;
    return true;
  });
}

/** The runs that can play a game. */
export function runsOf(game: string, runs: readonly RunInfo[]): RunInfo[] {
  return runs.filter((run) => run.game === game && run.steps.length > 0);
}

/** A name for status lines and saved games: "UCT, 800 simulations". */
export function nameOf(choice: AgentChoice): string {
  const budget =
    choice.budget === "simulations" ? `${short(choice.simulations)} simulations` : `${choice.seconds} s`;
  const weights = choice.step === null ? choice.run : `${choice.run} at step ${choice.step}`;
  switch (choice.kind) {
    case "uct":
      return `UCT, ${budget}`;
    case "puct":
      return `PUCT, ${budget}`;
    case "threats":
      return `Threat patterns, ${budget}`;
    case "bundled":
      return `Bundled network, ${budget}`;
    case "guided":
      return `${weights}, ${budget}`;
    case "network":
      return `${weights}, no search`;
    case "alphabeta":
      return `Alpha-beta, depth ${choice.depth}`;
    case "perfect":
      return "Perfect play";
    case "random":
      return "Random moves";
  }
}

/** A name that fits beside a stone: "UCT", "c4", "Alpha-beta". */
export function shortNameOf(choice: AgentChoice): string {
  if (usesRun(choice.kind)) return choice.run;
  return nameOf(choice).split(",", 1)[0] ?? "";
}

/** The choice in the form of an address. */
export function choiceQuery(choice: AgentChoice): Record<string, QueryValue> {
  const { kind, budget } = choice;
  return {
    vs: kind,
    run: usesRun(kind) ? choice.run : null,
    step: usesRun(kind) ? choice.step : null,
    simulations: isSearch(kind) && budget === "simulations" ? choice.simulations : null,
    seconds: isSearch(kind) && budget === "seconds" ? choice.seconds : null,
    depth: kind === "alphabeta" ? choice.depth : null,
    proofs: isSearch(kind) && !choice.proves ? "0" : null,
  };
}

/** The choice in an address, or null. */
export function readChoice(query: URLSearchParams): AgentChoice | null {
  const kind = KINDS.find((one) => one === query.get("vs"));
  if (!kind) return null;
  const number = (name: string): number | null => {
    const text = query.get(name);
    const read = text === null || text === "" ? NaN : Number(text);
    return Number.isFinite(read) && read >= 0 ? read : null;
  };
  const seconds = number("seconds");
  return {
    ...DEFAULT_CHOICE,
    kind,
    run: query.get("run") ?? "",
    step: number("step"),
    budget: seconds ? "seconds" : "simulations",
    simulations: Math.max(1, Math.round(number("simulations") ?? DEFAULT_CHOICE.simulations)),
    seconds: seconds || DEFAULT_CHOICE.seconds,
    depth: Math.max(1, Math.round(number("depth") ?? DEFAULT_CHOICE.depth)),
    proves: query.get("proofs") !== "0",
  };
}
