/** Results and values in words and numbers. */

import type { Analysis, View } from "../api/schema";
import { signed } from "../numbers";

export type Seat = "human" | "agent";

/** Each player's name; "You" if a single person plays. */
export function namesOf(seats: readonly Seat[], agent: string): string[] {
  const people = seats.filter((seat) => seat === "human").length;
  const agents = seats.length - people;
  return seats.map((seat, player) => {
    if (seat === "human") return people === 1 ? "You" : `Player ${player + 1}`;
    return agents === 1 ? agent : `${agent} (${player + 1})`;
  });
}

/** How the game ended, in one sentence; empty while it is in progress. */
export function resultOf(view: View, names: readonly string[], resigned: number | null): string {
  if (resigned !== null) {
    const name = names[resigned] ?? `Player ${resigned + 1}`;
    const others = names.filter((_, player) => player !== resigned);
    const winner = others.length === 1 ? ` ${others[0]} ${others[0] === "You" ? "win" : "wins"}.` : "";
    return `${name} resigned.${winner}`;
  }
  if (!view.is_over) return "";
  if (view.num_players === 1) return "The game is over.";
  const best = Math.max(...view.returns);
  const winners = names.filter((_, player) => view.returns[player] === best);
  if (winners.length === names.length) return "A draw.";
  if (winners.length > 1) return `${winners.join(" and ")} share first place.`;
  return winners[0] === "You" ? "You win." : `${winners[0]} wins.`;
}

/** What a game's text says besides the board, such as a score; may be empty. */
export function remarkOf(view: View): string {
  const last = view.text.trimEnd().split("\n").at(-1) ?? "";
  return view.board && /[a-z]{3,}/i.test(last) ? last.trim() : "";
}

/** Values per player, if the analysis has any. */
export function valuesOf(analysis: Analysis, numPlayers: number): number[] | null {
  if (analysis.values.length > 0) return analysis.values;
  if (analysis.value === null) return null;
  if (numPlayers === 1) return [analysis.value];
  if (numPlayers !== 2) return null; // one player's value does not determine the others'
  return [0, 1].map((player) => (player === analysis.to_play ? 1 : -1) * (analysis.value ?? 0));
}

/** Q, from −1 to +1, as the share of a win to expect, from 0 to 1. */
export function expectedScore(q: number): number {
  return (q + 1) / 2;
}

/** A proven value in a word. */
export function wordFor(value: number | null): string {
  if (value === null) return "–";
  if (value === 1) return "win";
  if (value === -1) return "loss";
  return value === 0 ? "draw" : signed(value);
}
