/** A run to start, as a form and as a request to the server. */

import type { GameInfo, StartRun } from "../api/schema";
import { nameWith, type ParameterValues } from "../play/names";

/** A setting with its own field in the form. */
export interface Knob {
  option: string; // section.option
  label: string;
  hint: string;
  initial: number;
  min: number;
  max: number;
  step: number | "any";
}

export const knobs: readonly Knob[] = [
  {
    option: "search.simulations",
    label: "Simulations per move",
    hint: "More simulations: better games, but fewer.",
    initial: 16,
    min: 2,
    max: 10_000,
    step: 1,
  },
  {
    option: "training.generation_positions",
    label: "Positions per generation",
    hint: "New positions before each learning phase.",
    initial: 6000,
    min: 1,
    max: 1_000_000,
    step: 1,
  },
  {
    option: "selfplay.games",
    label: "Parallel games",
    hint: "Per thread.",
    initial: 256,
    min: 1,
    max: 4096,
    step: 1,
  },
  {
    option: "training.learning_rate",
    label: "Learning rate",
    hint: "Peak learning rate.",
    initial: 0.002,
    min: 0.000001,
    max: 1,
    step: "any",
  },
];

export const networks = [
  { value: "auto", label: "Automatic", settings: [] },
  { value: "mlp", label: "Fully connected (fast, for small games)", settings: ["network.kind=mlp"] },
  {
    value: "small",
    label: "Small convolutions (2 × 32)",
    settings: ["network.kind=residual", "network.blocks=2", "network.channels=32"],
  },
  {
    value: "large",
    label: "Large convolutions (8 × 96)",
    settings: ["network.kind=residual", "network.blocks=8", "network.channels=96"],
  },
] as const;

export type NetworkChoice = (typeof networks)[number]["value"];

export interface StartForm {
  parameters: ParameterValues;
  minutes: number;
  name: string;
  network: NetworkChoice;
  values: Record<string, number>; // of the fields, by option
  text: string; // all other settings, one per line
}

export function emptyForm(game: string): StartForm {
  return { parameters: {}, minutes: usualMinutes(game), name: "", network: "auto", values: {}, text: "" };
}

/** Enough to learn the game well on an ordinary computer. */
export function usualMinutes(game: string): number {
  return game.startsWith("tic-tac-toe") ? 2 : 20;
}

export function requestOf(game: GameInfo, form: StartForm): StartRun {
  return {
    game: nameWith(game, form.parameters),
    run: form.name.trim() || null,
    minutes: form.minutes,
    settings: settingsOf(form),
  };
}

/** Only what differs from the defaults; lines typed by hand come last and so take precedence. */
function settingsOf(form: StartForm): string[] {
  const network = networks.find((one) => one.value === form.network)?.settings ?? [];
  const changed = knobs.flatMap(({ option, initial }) => {
    const value = form.values[option] ?? initial;
    return value === initial ? [] : [`${option}=${value}`];
  });
  return [...network, ...changed, ...readLines(form.text)];
}

/** One setting per line; empty lines and comments after # are ignored. */
export function readLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/#.*$/, "").replace(/\s*=\s*/, "=").trim())
    .filter((line) => line !== "");
}
