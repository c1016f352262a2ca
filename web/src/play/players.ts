/** Who can play or analyse, as the page lets people choose; and what the server is asked for. */

import type { Limits, Player, RunInfo, View } from "../api/schema";
import type { QueryValue } from "../addresses";
import { short } from "../numbers";

export const KINDS = ["uct", "puct", "threats", "shipped", "guided", "network", "alphabeta", "perfect", "random"] as const;
export type Kind = (typeof KINDS)[number];

export interface PlayerChoice {
  kind: Kind;
  run: string; // of guided and network
  step: number | null; // null: the newest weights, as they come
  budget: "simulations" | "seconds";
  simulations: number;
  seconds: number;
  depth: number; // of alphabeta
  proves: boolean; // whether a search also looks for certain results
}

export const titles: Record<Kind, string> = {
  uct: "UCT: random playouts",
  puct: "PUCT: equal priors",
  threats: "Threes and fours, and search",
  shipped: "Shipped network and search",
  guided: "Network and search",
  network: "Network without search",
  alphabeta: "Alpha-beta",
  perfect: "Perfect play",
  random: "Random moves",
};

export const explanations: Record<Kind, string> = {
  uct: "Plays random games to the end from each position it tries. Needs no training.",
  puct: "Prefers no move beforehand and sees only how games end: the bare search.",
  threats: "Knows the shapes that win; the search looks ahead. Needs no training, and is strong.",
  shipped: "A network that was trained before and comes with PlainZero; the search looks ahead.",
  guided: "A trained network proposes moves and judges positions; the search looks ahead.",
  network: "Plays the move that the network likes best at first sight.",
  alphabeta: "Looks a fixed number of moves ahead, as classic chess programs do.",
  perfect: "Never gives a win or a draw away.",
  random: "Any legal move. Easy to beat.",
};

export const DEFAULT_CHOICE: PlayerChoice = {
  kind: "uct",
  run: "",
  step: null,
  budget: "simulations",
  simulations: 800,
  seconds: 2,
  depth: 6,
  proves: true,
};

const EVALUATORS = { uct: "rollout", puct: "uniform", threats: "threats", shipped: "shipped", guided: "network" } as const;

export function isSearch(kind: Kind): boolean {
  return kind in EVALUATORS;
}

export function usesRun(kind: Kind): boolean {
  return kind === "guided" || kind === "network";
}

/** The player to ask the server for, within its limits. */
export function toPlayer(choice: PlayerChoice, limits: Limits, canProve: boolean): Player {
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

/** What of a game says who can play it. */
export type Known = Pick<View, "has_perfect" | "has_threats" | "has_shipped" | "num_players">;

export const NOTHING_KNOWN: Known = {
  has_perfect: false,
  has_threats: false,
  has_shipped: false,
  num_players: 2,
};

/** What can be chosen for a game: runs must be of it and have weights, perfect play be known. */
export function kindsFor(runs: readonly RunInfo[], known: Known): Kind[] {
  return KINDS.filter((kind) => {
    if (usesRun(kind)) return runs.length > 0;
    if (kind === "perfect") return known.has_perfect;
    if (kind === "threats") return known.has_threats;
    if (kind === "shipped") return known.has_shipped;
    if (kind === "alphabeta") return known.num_players === 2;
    return true;
  });
}

/** The runs that can play a game. */
export function runsOf(game: string, runs: readonly RunInfo[]): RunInfo[] {
  return runs.filter((run) => run.game === game && run.steps.length > 0);
}

/** A name for status lines and saved games: "UCT, 800 simulations". */
export function nameOf(choice: PlayerChoice): string {
  const budget =
    choice.budget === "simulations" ? `${short(choice.simulations)} simulations` : `${choice.seconds} s`;
  const weights = choice.step === null ? choice.run : `${choice.run} at step ${choice.step}`;
  switch (choice.kind) {
    case "uct":
      return `UCT, ${budget}`;
    case "puct":
      return `PUCT, ${budget}`;
    case "threats":
      return `Threes and fours, ${budget}`;
    case "shipped":
      return `Shipped network, ${budget}`;
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
export function shortNameOf(choice: PlayerChoice): string {
  if (usesRun(choice.kind)) return choice.run;
  return nameOf(choice).split(",", 1)[0] ?? "";
}

/** The choice as it stands in an address. */
export function choiceQuery(choice: PlayerChoice): Record<string, QueryValue> {
  const { kind, budget } = choice;
  return {
    vs: kind,
    run: usesRun(kind) ? choice.run : null,
    step: usesRun(kind) ? choice.step : null,
    simulations: isSearch(kind) && budget === "simulations" ? choice.simulations : null,
    seconds: isSearch(kind) && budget === "seconds" ? choice.seconds : null,
    depth: kind === "alphabeta" ? choice.depth : null,
  };
}

/** The choice in an address; null where there is none. */
export function readChoice(query: URLSearchParams): PlayerChoice | null {
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
  };
}
