/** Who sits where. */

import type { Seat } from "./results";

/** As many seats as players; where they do not fit, the first is a person's. */
export function fitSeats(seats: readonly Seat[], numPlayers: number): Seat[] {
  if (seats.length === numPlayers) return [...seats];
  return Array.from({ length: numPlayers }, (_, player) => (player === 0 ? "human" : "machine"));
}

/** Everybody moves on one seat; who plays alone changes with the machine. */
export function swapSeats(seats: readonly Seat[]): Seat[] {
  const [first, ...rest] = seats;
  if (first === undefined) return [];
  return rest.length === 0 ? [first === "human" ? "machine" : "human"] : [...rest, first];
}
