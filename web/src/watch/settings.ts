/** The settings of one search, as set on the page and stored in an address. */

import { choice, flag, number, optionalNumber, optionalText, type QueryValue } from "../addresses";
import type { RunInfo, SearchAgent } from "../api/schema";
import { whole } from "../numbers";

export const EVALUATORS = ["rollout", "uniform", "network", "bundled"] as const;
export const SELECTIONS = ["uct", "puct", "puct-log", "gumbel"] as const;
export const NOISE_WEIGHT = 0.25; // AlphaZero's, in self-play
export const MOST_C = 20;

export type Evaluator = (typeof EVALUATORS)[number];
export type Selection = (typeof SELECTIONS)[number];

export interface Settings {
  evaluator: Evaluator;
  run: string | null; // whose network
  step: number | null; // null: the newest weights
  simulations: number;
  selection: Selection;
  cPuct: number;
  cUct: number;
  hasNoise: boolean;
  alpha: number; // 0: 10 / legal moves
  hasProofs: boolean;
  seed: number;
}

export interface Preset {
  name: string;
  title: string;
  pair: [Partial<Settings>, Partial<Settings>];
}

export function defaultSettings(): Settings {
  return {
    evaluator: "rollout",
    run: null,
    step: null,
    simulations: 400,
    selection: "uct",
    cPuct: 1.25,
    cUct: 1.41,
    hasNoise: false,
    alpha: 0,
    hasProofs: false,
    seed: 0,
  };
}

/** The default formula of an evaluator. */
export function usualSelection(evaluator: Evaluator): Selection {
  return evaluator === "rollout" ? "uct" : "puct";
}

export function takesNoise(settings: Settings): boolean {
  return settings.selection === "puct" || settings.selection === "puct-log";
}

/** The agent in the server's form. */
export function agentOf(settings: Settings): SearchAgent {
  const isNoisy = settings.hasNoise && takesNoise(settings);
  const options: NonNullable<SearchAgent["options"]> = {
    selection: settings.selection,
    noise_weight: isNoisy ? NOISE_WEIGHT : 0,
    proven_values: settings.hasProofs,
  };
  if (isNoisy) options["noise_alpha"] = settings.alpha;
  if (settings.selection === "uct") options["c_uct"] = settings.cUct;
  else if (takesNoise(settings)) options["c_puct"] = settings.cPuct;
  const isNetwork = settings.evaluator === "network";
  return {
    kind: "search",
    evaluator: settings.evaluator,
    run: isNetwork ? settings.run : null,
    step: isNetwork ? settings.step : null,
    simulations: settings.simulations,
    options,
  };
}

/** The settings in one line. */
export function describe(settings: Settings): string {
  const evaluators = {
    rollout: "random games",
    uniform: "equal priors",
    network: settings.run ?? "",
    bundled: "bundled network",
  };
  const parts = [evaluators[settings.evaluator]];
  if (settings.evaluator === "network" && settings.step !== null) parts.push(`step ${whole(settings.step)}`);
  const c = settings.selection === "uct" ? settings.cUct : settings.cPuct;
  const name = settings.selection === "gumbel" ? "Gumbel" : settings.selection.toUpperCase();
  parts.push(settings.selection === "gumbel" ? name : `${name} with c ${c}`);
  if (settings.hasNoise && takesNoise(settings)) parts.push("noise");
  if (settings.hasProofs) parts.push("proofs");
  parts.push(`${whole(settings.simulations)} simulations`, `seed ${settings.seed}`);
  return parts.join(" · ");
}

/** The settings as address parameters; `prefix` distinguishes two searches. */
export function settingsQuery(settings: Settings, prefix = ""): Record<string, QueryValue> {
  const isNetwork = settings.evaluator === "network";
  const query: Record<string, QueryValue> = {
    evaluator: settings.evaluator,
    run: isNetwork ? settings.run : null,
    step: isNetwork ? settings.step : null,
    simulations: settings.simulations,
    selection: settings.selection,
    c_uct: settings.selection === "uct" ? settings.cUct : null,
    c_puct: takesNoise(settings) ? settings.cPuct : null,
    noise: settings.hasNoise,
    alpha: settings.hasNoise && settings.alpha > 0 ? settings.alpha : null,
    proofs: settings.hasProofs,
    seed: settings.seed,
  };
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [prefix + name, value]));
}

/** The settings in an address, with defaults for missing or unreadable ones. */
export function readSettings(query: URLSearchParams, prefix = ""): Settings {
  const defaults = defaultSettings();
  const get = (name: string) => query.get(prefix + name);
  const evaluator = choice(EVALUATORS, defaults.evaluator)(get("evaluator"));
  const run = optionalText()(get("run"));
  return {
    evaluator: evaluator === "network" && run === null ? defaults.evaluator : evaluator,
    run,
    step: optionalNumber()(get("step")),
    simulations: Math.round(number(defaults.simulations, 1, 10_000_000)(get("simulations"))),
    selection: choice(SELECTIONS, usualSelection(evaluator))(get("selection")),
    cPuct: number(defaults.cPuct, 0, MOST_C)(get("c_puct")),
    cUct: number(defaults.cUct, 0, MOST_C)(get("c_uct")),
    hasNoise: flag()(get("noise")),
    alpha: number(defaults.alpha, 0, 1000)(get("alpha")),
    hasProofs: flag()(get("proofs")),
    seed: Math.round(number(defaults.seed, 0, Number.MAX_SAFE_INTEGER)(get("seed"))),
  };
}

/** Pairs worth comparing; those with networks need a run of the game. */
export function presetsFor(runs: readonly RunInfo[]): Preset[] {
  const run = runs.find((one) => one.steps.length > 0);
  const network: Partial<Settings> = run
    ? { evaluator: "network", run: run.run, step: null, selection: "puct" }
    : { evaluator: "uniform", run: null, step: null, selection: "puct" };
  const plain: Partial<Settings> = { ...network, hasNoise: false };
  const rollout: Partial<Settings> = { evaluator: "rollout", run: null, step: null, hasNoise: false };
  const presets: Preset[] = [
    {
      name: "formulas",
      title: "UCT and PUCT",
      pair: [
        { ...rollout, selection: "uct" },
        { ...rollout, selection: "puct" },
      ],
    },
    {
      name: "c",
      title: "Two values of c_puct",
      pair: [
        { ...plain, cPuct: 0.5 },
        { ...plain, cPuct: 4 },
      ],
    },
    {
      name: "noise",
      title: "Without and with noise",
      pair: [plain, { ...plain, hasNoise: true }],
    },
  ];
  const first = run?.steps[0];
  if (run && run.steps.length > 1 && first !== undefined) {
    presets.push({
      name: "checkpoints",
      title: "First and latest checkpoint",
      pair: [{ ...plain, step: first }, plain],
    });
  }
  if (run) {
    presets.push({
      name: "network",
      title: "Random games and a network",
      pair: [{ ...rollout, selection: "uct" }, plain],
    });
  }
  return presets;
}
