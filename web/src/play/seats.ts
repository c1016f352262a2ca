/** Who plays which seat. */

import type { Seat } from "./results";

/** One seat per player; if the given seats do not fit, the first is a person's. */
export function fitSeats(seats: readonly Seat[], numPlayers: number): Seat[] {
  if (seats.length === numPlayers) return [...seats];
  return Array.from({ length: numPlayers }, (_, player) => (player === 0 ? "human" : "agent"));
}

/** Moves everybody to the next seat; a single player swaps with the agent. */
export function swapSeats(seats: readonly Seat[]): Seat[] {
  const [first, ...rest] = seats;
  if (first === undefined) return [];
  return rest.length === 0 ? [first === "human" ? "agent" : "human"] : [...rest, first];
}
