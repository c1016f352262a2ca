/** Generations that arrive in pieces, made into one list. */

import type { Generation, RunInfo } from "../api/schema";

/** Both lists as one, by number and in order; what arrived later counts. */
export function mergeGenerations(
  known: readonly Generation[],
  arrived: readonly Generation[],
): readonly Generation[] {
  if (arrived.length === 0) return known;
  const last = known.at(-1)?.generation ?? -Infinity;
  const isRising = arrived.every((one, index) => one.generation > (arrived[index - 1]?.generation ?? last));
  if (isRising) return [...known, ...arrived];
  const byNumber = new Map([...known, ...arrived].map((one) => [one.generation, one]));
  return [...byNumber.values()].sort((a, b) => a.generation - b.generation);
}

/**
 * Whether the list is not what the run has: generations went by while nobody listened, or the run
 * went back to an earlier one and begins to count from there.
 */
export function hasGap(known: readonly Generation[], info: RunInfo): boolean {
  const last = known.at(-1)?.generation ?? 0;
  if (last < info.generation) return true;
  return known.some((one, index) => index > 0 && one.generation !== (known[index - 1]?.generation ?? 0) + 1);
}

/** Whether the run goes on from before what is known: a later generation was never committed. */
export function hasGoneBack(known: readonly Generation[], before: RunInfo | undefined, info: RunInfo): boolean {
  return before !== undefined && info.generation < before.generation && known.length > 0;
}
