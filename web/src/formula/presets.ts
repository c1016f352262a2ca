/** Starting points, each chosen to show one thing. */

import type { Child } from "../api/schema";
import { defaults, ALPHAZERO_BASE, type Settings } from "./settings";

export interface Preset {
  name: string;
  title: string;
  lesson: string; // what to try, and what to see
  settings: Settings;
  children: readonly Child[];
}

const manoeuvres = ["prograde", "retrograde", "radial", "anti-radial", "hold"] as const;
const manoeuvrePriors = [0.55, 0.05, 0.2, 0.15, 0.05];

export const presets: readonly Preset[] = [
  preset(
    "satellite",
    "Satellite",
    "An example without a board: a satellite chooses among five manoeuvres. The formula knows no games, only " +
      "moves. Nothing has been tried and all values are equal; make selections, and visits follow the priors.",
    {},
    name(manoeuvres, manoeuvrePriors),
  ),
  preset(
    "prior-against-value",
    "Prior against value",
    "The prior prefers “habit”, but the results favour “idea”. Make 100 selections and watch " +
      "value win. With a large c it takes longer.",
    { c_puct: 1.5 },
    name(["habit", "idea", "safe", "odd"], [0.6, 0.1, 0.25, 0.05], [24, 2, 8, 1], [-0.15, 0.4, 0.05, -0.3]),
  ),
  preset(
    "uct-first",
    "UCT: each move once",
    "UCT has no prior, so an unvisited move has infinite score: five selections try the five " +
      "moves, and only the sixth compares values.",
    { selection: "uct" },
    name(["left", "middle", "right", "up", "down"], [0.2, 0.2, 0.2, 0.2, 0.2], [], [-0.1, 0.5, 0.1, 0.3, -0.4]),
  ),
  preset(
    "never-tried",
    "Untried moves",
    "Two moves have no visits, so W / N is undefined. Choose their value: 0 is far below " +
      "the position’s, infinite tries both at once, reduced lies between.",
    { fpu: "reduction", parent_value: 0.3 },
    name(["main", "second", "untried", "odd"], [0.5, 0.2, 0.2, 0.1], [30, 10, 0, 0], [0.35, 0.2, 0.1, -0.3]),
  ),
  preset(
    "growing-c",
    "A growing c",
    "A long search: after 100 000 visits AlphaZero's c has grown from 1.25 to about 3.06. It keeps the " +
      "search from narrowing too early. Turn growth off and watch the bars shrink.",
    { c_puct_base: ALPHAZERO_BASE },
    name(["main line", "rival", "quiet", "wild"], [0.45, 0.35, 0.15, 0.05], [62_000, 27_000, 9000, 2000], [
      0.12, 0.1, 0.08, 0.02,
    ]),
  ),
  preset(
    "temperature",
    "Temperature",
    "A finished search with 120, 15, 40, 20 and 5 visits. Move τ: at 1, moves are sampled by their share; " +
      "towards 0 only the first remains; above 1 they become more even.",
    { temperature: 0.5 },
    name(manoeuvres, manoeuvrePriors, [120, 15, 40, 20, 5]),
  ),
  preset(
    "noise",
    "Root noise",
    "Self-play mixes 25 % noise into the root's priors, so that it sometimes tries a move that " +
      "the network rates low. Resample and see which move gets a chance.",
    { noise_weight: 0.25, noise_alpha: 0.3, seed: 1 },
    name(manoeuvres, manoeuvrePriors),
  ),
];

/** The preset of that name, or the first one. */
export function findPreset(name: string | null): Preset {
  const found = presets.find((one) => one.name === name) ?? presets[0];
  if (!found) throw new Error("There are no presets.");
  return found;
}

function preset(
  name: string,
  title: string,
  lesson: string,
  settings: Partial<Settings>,
  children: readonly Child[],
): Preset {
  return { name, title, lesson, settings: { ...defaults, ...settings }, children };
}

function name(
  names: readonly string[],
  priors: readonly number[],
  visits: readonly number[] = [],
  values: readonly number[] = [],
): Child[] {
  return names.map((one, index) => ({
    name: one,
    prior: priors[index] ?? 0,
    visits: visits[index] ?? 0,
    q: values[index] ?? 0,
  }));
}
