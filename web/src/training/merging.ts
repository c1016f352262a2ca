/** Merges generations that arrive in pieces into one list. */

import type { Generation, RunInfo } from "../api/schema";

/** Both lists merged in order of generation; later arrivals win. */
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
 * The generations after which some are missing: they were committed while nobody listened, or the
 * run has no record of them.
 */
export function gapsIn(known: readonly Generation[], info: RunInfo): number[] {
  const numbers = known.map((one) => one.generation);
  const within = numbers.filter((number, index) => index + 1 < numbers.length && numbers[index + 1] !== number + 1);
  const last = numbers.at(-1) ?? 0;
  return last < info.generation ? [...within, last] : within;
}

/** Whether the run resumed from an earlier generation: a later one was never committed. */
export function hasGoneBack(known: readonly Generation[], before: RunInfo | undefined, info: RunInfo): boolean {
  return before !== undefined && info.generation < before.generation && known.length > 0;
}
