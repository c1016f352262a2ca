/** The position that all views share, and how it is written into an address. */

import type { Position, Setup } from "./api/schema";
import type { QueryValue } from "./router.svelte";

class Current {
  /** Set by Play; the starting point of other views. `null` until the server has answered. */
  position = $state.raw<Position | null>(null);
}

export const current = new Current();

/** The parameters of a position in an address. */
export function positionQuery(position: Position): Record<string, QueryValue> {
  return {
    game: position.game,
    moves: position.moves ?? [],
    setup: position.setup ? encodeSetup(position.setup) : null,
  };
}

/** The position in an address, or `null`. */
export function readPosition(query: URLSearchParams): Position | null {
  const game = query.get("game");
  if (!game) return null;
  const moves = (query.get("moves") ?? "")
    .split(",")
    .filter((part) => /^\d+$/.test(part))
    .map(Number);
  return { game, setup: decodeSetup(query.get("setup")), moves };
}

/** A position set up by hand, in characters that need no escaping. */
export function encodeSetup(setup: Setup): string {
  const bytes = new TextEncoder().encode(JSON.stringify([setup.to_play, setup.cells]));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The position set up by hand, or `null` if the text is invalid. */
export function decodeSetup(text: string | null): Setup | null {
  if (!text) return null;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const [to_play, cells] = JSON.parse(new TextDecoder().decode(bytes)) as [number, string[][]];
    return { cells, to_play };
  } catch {
    return null;
  }
}
