/** Opens games from files, from the clipboard, or set up by hand. */

import { api, sentenceOf } from "../api/client";
import type { Setup } from "../api/schema";
import type { Game } from "./game.svelte";
import { defaultOpponent } from "./defaultOpponent";

/** Puts a saved game on the board; returns what is wrong with it, or null. */
export async function openSaved(game: Game, content: string): Promise<string | null> {
  try {
    const { view, resigned } = await api.importGame({ content });
    const moves = view.moves.map((move) => move.action);
    const seats = game.seats.length === view.num_players ? [...game.seats] : [];
    const opponent = view.game === game.view?.game ? null : defaultOpponent(view.game, game.opponent);
    const shared = { game: view.game, setup: view.setup, moves, at: moves.length, seats, opponent, resigned };
    return (await game.load(shared, true)) ? null : game.error;
  } catch (error) {
    return sentenceOf(error);
  }
}

/** Starts a game from a position set up by hand; returns why it cannot, or null. */
export async function openSetup(game: Game, setup: Setup): Promise<string | null> {
  const name = game.view?.game;
  if (!name || (await game.begin(name, game.seats, setup))) return null;
  const problem = game.error;
  game.error = null; // shown in the editor instead
  return problem;
}

/** The text of a dropped file. */
export async function readDropped(event: DragEvent): Promise<string> {
  const file = event.dataTransfer?.files[0];
  return file ? file.text() : (event.dataTransfer?.getData("text/plain") ?? "");
}
