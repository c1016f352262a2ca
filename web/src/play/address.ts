/** A game as an address: its moves, the position shown, the players, and who resigned. */

import type { QueryValue } from "../addresses";
import type { Setup } from "../api/schema";
import { positionQuery, readPosition } from "../position.svelte";
import { choiceQuery, readChoice, type AgentChoice } from "./agents";
import type { Seat } from "./results";

export interface SharedGame {
  game: string;
  setup: Setup | null;
  moves: number[]; // of the whole line
  at: number; // number of moves played on the board
  seats: Seat[]; // empty: unspecified
  opponent: AgentChoice | null;
  resigned: number | null;
}

export function gameQuery(shared: SharedGame): Record<string, QueryValue> {
  const { game, setup, moves, at, seats, opponent, resigned } = shared;
  const hasAgent = seats.includes("agent");
  return {
    ...positionQuery({ game, setup, moves }),
    at: at < moves.length ? String(at) : null,
    seats: seats.map((seat) => (seat === "agent" ? "m" : "h")).join(""),
    ...(opponent && hasAgent ? choiceQuery(opponent) : {}),
    resigned: resigned === null ? null : String(resigned + 1),
  };
}

/** The game in an address, or null if it names none. */
export function readGame(query: URLSearchParams): SharedGame | null {
  const position = readPosition(query);
  if (!position) return null;
  const moves = position.moves ?? [];
  const at = query.get("at") ?? "";
  const resigned = Number(query.get("resigned") ?? 0);
  return {
    game: position.game,
    setup: position.setup ?? null,
    moves,
    at: /^\d+$/.test(at) ? Math.min(Number(at), moves.length) : moves.length,
    seats: [...(query.get("seats") ?? "")].map((letter) => (letter === "m" ? "agent" : "human")),
    opponent: readChoice(query),
    resigned: Number.isInteger(resigned) && resigned > 0 ? resigned - 1 : null,
  };
}
