/** The part of a run that is shown, as an address: `#/training/c4?tab=games&generation=7`. */

import { choice, linkTo, optionalNumber, optionalText, type QueryValue } from "../addresses";
import type { Position, RunInfo } from "../api/schema";
import { positionQuery } from "../position.svelte";

export const TABS = ["curves", "games", "over-time", "settings"] as const;
export const ACROSS = ["generations", "minutes", "games"] as const;

export type Tab = (typeof TABS)[number];
export type Across = (typeof ACROSS)[number];

export interface Place {
  tab: Tab;
  x: Across;
  with: string | null; // the run to compare with
  generation: number | null; // of games; null: the newest
  game: number | null; // counted from 1
  move: number; // moves made on the board of a replay
}

export function readPlace(query: URLSearchParams): Place {
  const count = (name: string) => {
    const read = optionalNumber()(query.get(name));
    return read !== null && Number.isInteger(read) && read >= 0 ? read : null;
  };
  return {
    tab: choice(TABS, "curves")(query.get("tab")),
    x: choice(ACROSS, "generations")(query.get("x")),
    with: optionalText()(query.get("with")),
    generation: count("generation"),
    game: count("game"),
    move: count("move") ?? 0,
  };
}

export function runPath(run: string): string {
  return `/training/${encodeURIComponent(run)}`;
}

/** The query with some parameters changed; null removes one. */
export function changeQuery(
  query: URLSearchParams,
  changes: Record<string, QueryValue>,
): Record<string, QueryValue> {
  return { ...Object.fromEntries(query), ...changes };
}

/** The address for playing against a run. */
export function playAgainst(info: RunInfo, numPlayers: number): string {
  const seats = numPlayers === 2 ? "hm" : null;
  return linkTo("/play", { game: info.game, seats, vs: "guided", run: info.run });
}

export function playFrom(position: Position): string {
  return linkTo("/play", positionQuery(position));
}

/** The address for watching a run's network search a position. */
export function watchFrom(position: Position, run: string, step: number | null): string {
  return linkTo("/watch", { ...positionQuery(position), evaluator: "network", run, step: step === null ? null : String(step) });
}

/** The address of a position over time in a run. */
export function overTimeOf(position: Position, run: string): string {
  const { moves, setup } = positionQuery(position);
  return linkTo(runPath(run), { tab: "over-time", at: "given", moves, setup });
}
