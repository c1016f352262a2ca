/** The curves of a run, and what to look for in each. */

import { percent } from "../numbers";

export interface Line {
  metric: string;
  label: string;
  colour?: string;
  error?: string; // the metric of half its error band
}

export interface CurveKind {
  name: string;
  title: string;
  look: string; // what to look for
  lines: readonly Line[];
  format: (value: number) => string;
  range: readonly [number | null, number | null];
  missing: string; // shown if nothing was measured
  isSparse?: boolean; // not measured in every generation
}

const NOT_YET = "No data yet. It appears with the first generation.";
const shares: Pick<CurveKind, "format" | "range"> = { format: percent, range: [0, 1] };

export const mainCurves: readonly CurveKind[] = [
  {
    name: "loss",
    title: "Loss",
    look: "Falls steeply, then slowly. It may rise again while play improves, because better games are harder to predict.",
    lines: [
      { metric: "loss", label: "total" },
      { metric: "policy_loss", label: "policy" },
      { metric: "value_loss", label: "value" },
    ],
    format: (value) => value.toFixed(2),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "rating",
    title: "Rating",
    look: "Elo above random play. Read the band, not the line: if two bands overlap, the difference is uncertain.",
    lines: [{ metric: "rating", label: "rating", error: "rating_error", colour: "var(--player-1)" }],
    format: (value) => value.toFixed(0),
    range: [null, null],
    missing: "Not measured yet. A few games against fixed opponents are played about once per minute.",
    isSparse: true,
  },
  {
    name: "accuracy",
    title: "Accuracy against perfect play",
    look: "Share of moves that keep the result. The gap between the lines is what search adds.",
    lines: [
      { metric: "accuracy", label: "network alone" },
      { metric: "accuracy_search", label: "with search", colour: "var(--player-1)" },
    ],
    format: percent,
    range: [null, 1],
    missing: "Not measured yet. Solved positions, if the game has any, are tested about once per minute.",
    isSparse: true,
  },
  {
    name: "positions",
    title: "Positions per second",
    look: "Self-play speed. It should stay level; a dip means the machine was busy.",
    lines: [{ metric: "positions_per_second", label: "positions/s", colour: "var(--player-2)" }],
    format: compact,
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "games",
    title: "Games per second",
    look: "Falls as games become longer: evenly matched players need more moves.",
    lines: [{ metric: "games_per_second", label: "games/s", colour: "var(--player-2)" }],
    format: compact,
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "window",
    title: "Replay window",
    look: "Number of positions to learn from. Grows more slowly than the run, so that old games drop out.",
    lines: [{ metric: "replay_positions", label: "positions", colour: "var(--player-3)" }],
    format: compact,
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "age",
    title: "Age of the data",
    look: "Mean age in generations. A slow rise is normal; far above a third of the run is too old.",
    lines: [{ metric: "replay_age", label: "generations", colour: "var(--player-3)" }],
    format: (value) => value.toFixed(1),
    range: [0, null],
    missing: NOT_YET,
  },
];

export const moreCurves: readonly CurveKind[] = [
  {
    name: "entropy",
    title: "Entropy",
    look: "Uncertainty of the network and the search. Both fall; near zero the network no longer considers alternatives.",
    lines: [
      { metric: "policy_entropy", label: "network" },
      { metric: "target_entropy", label: "search", colour: "var(--player-1)" },
    ],
    format: (value) => value.toFixed(2),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "kl",
    title: "Left to learn from the search",
    look: "Policy loss minus the search's entropy. Falling is good; level means search and network improve together.",
    lines: [{ metric: "policy_kl", label: "divergence" }],
    format: (value) => value.toFixed(2),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "agreement",
    title: "Agreement with the search",
    look: "How often both prefer the same move. Rises as the network learns to predict the search.",
    lines: [{ metric: "search_agreement", label: "same first choice" }],
    ...shares,
    missing: NOT_YET,
  },
  {
    name: "explained",
    title: "Predicted results",
    look: "Share of the variance of results that the value explains: 0 is no better than the mean, 1 is perfect.",
    lines: [{ metric: "value_explained", label: "explained" }],
    format: (value) => value.toFixed(2),
    range: [null, 1],
    missing: NOT_YET,
  },
  {
    name: "values",
    title: "Values",
    look: "Mean and spread of the network’s values. A spread near zero means it considers every position even.",
    lines: [
      { metric: "value_mean", label: "mean" },
      { metric: "value_spread", label: "spread", colour: "var(--player-1)" },
      { metric: "value_calibration_error", label: "calibration error", colour: "var(--player-2)" },
    ],
    format: (value) => value.toFixed(2),
    range: [null, null],
    missing: NOT_YET,
  },
  {
    name: "results",
    title: "Results of self-play",
    look: "Draws, and the first player’s mean score. If all games are draws or won by one side, there is nothing to learn.",
    lines: [
      { metric: "draw_rate", label: "draws" },
      { metric: "first_player_score", label: "first player's score", colour: "var(--player-1)" },
    ],
    format: (value) => value.toFixed(2),
    range: [null, 1],
    missing: NOT_YET,
  },
  {
    name: "length",
    title: "Length of games",
    look: "Moves per game, random openings included. Longer games are often better defended.",
    lines: [{ metric: "game_length", label: "moves", colour: "var(--player-3)" }],
    format: (value) => value.toFixed(1),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "endings",
    title: "How games end",
    look: "Shares ended early by proof or resignation. Wrong resignations should stay below 5 %.",
    lines: [
      { metric: "proof_rate", label: "proven" },
      { metric: "resign_rate", label: "resigned", colour: "var(--player-1)" },
      { metric: "false_resign_rate", label: "wrongly resigned", colour: "var(--player-2)" },
    ],
    ...shares,
    missing: NOT_YET,
  },
  {
    name: "cache",
    title: "Cache hits",
    look: "Positions already evaluated. High in small games, where positions repeat.",
    lines: [{ metric: "cache_hit_rate", label: "hits" }],
    ...shares,
    missing: "This run has no cache (run.cache_bytes is 0).",
  },
  {
    name: "time",
    title: "Where the time goes",
    look: "Self-play's share of a generation, and the network's share of self-play. The rest is learning and search.",
    lines: [
      { metric: "selfplay_share", label: "self-play" },
      { metric: "evaluator_share", label: "network, within self-play", colour: "var(--player-1)" },
    ],
    ...shares,
    missing: NOT_YET,
  },
  {
    name: "searching",
    title: "Simulations and evaluations per second",
    look: "The gap is simulations that need no network, thanks to the cache and finished games.",
    lines: [
      { metric: "simulations_per_second", label: "simulations/s" },
      { metric: "evaluations_per_second", label: "evaluations/s", colour: "var(--player-1)" },
    ],
    format: compact,
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "rate",
    title: "Learning rate",
    look: "Size of the steps. It follows the run’s schedule; adding minutes raises it again.",
    lines: [{ metric: "learning_rate", label: "rate" }],
    format: (value) => String(Number(value.toPrecision(3))),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "gradient",
    title: "Gradient norm",
    look: "Steady or slowly changing is healthy; persistent spikes call for a lower learning rate.",
    lines: [{ metric: "gradient_norm", label: "norm" }],
    format: (value) => value.toFixed(2),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "uses",
    title: "Uses of a position",
    look: "How often positions in the window were used. Far above training.reuse the network memorises them.",
    lines: [{ metric: "replay_uses", label: "uses", colour: "var(--player-3)" }],
    format: (value) => value.toFixed(2),
    range: [0, null],
    missing: NOT_YET,
  },
];

/** 400000 → "400 k": short enough for an axis. */
function compact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))} k`;
  return String(Number(value.toPrecision(3)));
}
