/** The curves of a run: which there are, and what to look for in each. */

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
  missing: string; // said where nothing was measured
  isSparse?: boolean; // only measured now and then
}

const NOT_YET = "Nothing yet: it appears with the first generation.";
const shares: Pick<CurveKind, "format" | "range"> = { format: percent, range: [0, 1] };

export const mainCurves: readonly CurveKind[] = [
  {
    name: "loss",
    title: "Loss",
    look: "A steep fall at first, then a long slope. It may rise again while the play improves: better games set harder tasks.",
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
    look: "Elo points above random moves. Read the band, not the line: where two bands overlap, nothing is certain.",
    lines: [{ metric: "rating", label: "rating", error: "rating_error", colour: "var(--player-1)" }],
    format: (value) => value.toFixed(0),
    range: [null, null],
    missing: "Not measured yet: a few games against fixed opponents are played about once a minute.",
    isSparse: true,
  },
  {
    name: "accuracy",
    title: "Accuracy against perfect play",
    look: "How often the move gives nothing away. The distance between the two lines is what searching adds.",
    lines: [
      { metric: "accuracy", label: "network alone" },
      { metric: "accuracy_search", label: "with search", colour: "var(--player-1)" },
    ],
    format: percent,
    range: [null, 1],
    missing: "Not measured yet: solved positions are shown to it about once a minute, where the game has some.",
    isSparse: true,
  },
  {
    name: "positions",
    title: "Positions a second",
    look: "The pace of self-play. It should stay level; a dip means that the machine had something else to do.",
    lines: [{ metric: "positions_per_second", label: "positions/s", colour: "var(--player-2)" }],
    format: compact,
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "games",
    title: "Games a second",
    look: "Falls as games become longer: well-matched players need more moves to decide one.",
    lines: [{ metric: "games_per_second", label: "games/s", colour: "var(--player-2)" }],
    format: compact,
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "window",
    title: "Replay window",
    look: "How many positions it learns from. Grows with the run, but more slowly, so that old play is forgotten.",
    lines: [{ metric: "replay_positions", label: "positions", colour: "var(--player-3)" }],
    format: compact,
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "age",
    title: "Age of what it learns from",
    look: "Mean age in generations. A slow rise is normal; high above a third of the run, it studies the past.",
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
    look: "How undecided the network and the search are. Both fall; near zero the network has stopped considering alternatives.",
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
    title: "Still to learn from the search",
    look: "Policy loss less the search's own entropy. Falling is good; level means that search and network move on together.",
    lines: [{ metric: "policy_kl", label: "divergence" }],
    format: (value) => value.toFixed(2),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "agreement",
    title: "Agreement with the search",
    look: "How often both like the same move best. Rises as the network learns to guess what the search will find.",
    lines: [{ metric: "search_agreement", label: "same first choice" }],
    ...shares,
    missing: NOT_YET,
  },
  {
    name: "explained",
    title: "Results foreseen",
    look: "Share of the results that the value explains: 0 knows no more than the average, 1 knows every one.",
    lines: [{ metric: "value_explained", label: "explained" }],
    format: (value) => value.toFixed(2),
    range: [null, 1],
    missing: NOT_YET,
  },
  {
    name: "values",
    title: "Values",
    look: "Mean and spread of what the network says of positions. A spread near zero means that it calls everything even.",
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
    look: "Draws, and the mean score of who begins. All draws, or always the same winner, would teach nothing.",
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
    look: "Moves in a game, random openings included. Longer games are often better defended ones.",
    lines: [{ metric: "game_length", label: "moves", colour: "var(--player-3)" }],
    format: (value) => value.toFixed(1),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "endings",
    title: "How games end",
    look: "Shares ended early by proof or by giving up. Wrong resignations should stay below a twentieth.",
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
    look: "Positions whose evaluation was known already. High in small games, where the same ones come again.",
    lines: [{ metric: "cache_hit_rate", label: "hits" }],
    ...shares,
    missing: "This run keeps no evaluations (run.cache_bytes is 0).",
  },
  {
    name: "time",
    title: "Where the time goes",
    look: "Self-play's share of a generation, and the network's share of self-play. The rest is learning and searching.",
    lines: [
      { metric: "selfplay_share", label: "self-play" },
      { metric: "evaluator_share", label: "network in it", colour: "var(--player-1)" },
    ],
    ...shares,
    missing: NOT_YET,
  },
  {
    name: "searching",
    title: "Simulations and evaluations a second",
    look: "The two lie apart by what the cache and finished games save: simulations that need no network.",
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
    look: "The size of its steps. It follows the schedule of the run; going on with more minutes raises it again.",
    lines: [{ metric: "learning_rate", label: "rate" }],
    format: (value) => String(Number(value.toPrecision(3))),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "gradient",
    title: "Length of gradients",
    look: "Steady or slowly changing is healthy; spikes that do not go away call for a lower learning rate.",
    lines: [{ metric: "gradient_norm", label: "norm" }],
    format: (value) => value.toFixed(2),
    range: [0, null],
    missing: NOT_YET,
  },
  {
    name: "uses",
    title: "Uses of a position",
    look: "How often positions in the window were learned from so far. Far above training.reuse it learns by heart.",
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
