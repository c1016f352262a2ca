/** Synchronises the game on the board with the page's address. */

import { untrack } from "svelte";

import { current } from "../position.svelte";
import { linkTo, route } from "../router.svelte";
import { gameQuery, readGame, type SharedGame } from "./address";
import type { Game } from "./game.svelte";
import { offer } from "./server.svelte";
import { defaultOpponent } from "./defaultOpponent";

/** Must be called while a component is created; `onload` is called for games from the address. */
export function syncAddress(game: Game, onload: () => void): void {
  let gamesWritten = game.gamesStarted;

  $effect(() => {
    const query = route.query;
    if (offer.about) untrack(() => read(query));
  });

  // Starting a game adds an entry to the browser's history; its moves do not.
  $effect(() => {
    const shared = game.shared;
    const { gamesStarted, position } = game;
    if (!shared) return;
    untrack(() => {
      if (!isHere()) return;
      route.go("/play", gameQuery(shared), gamesStarted === gamesWritten);
      gamesWritten = gamesStarted;
      current.position = position;
    });
  });

  function read(query: URLSearchParams): void {
    if (!isHere()) return;
    const shared = readGame(query);
    if (shared) {
      if (game.shared && window.location.hash === linkTo("/play", gameQuery(game.shared))) return;
      onload();
      if (!shared.opponent) game.opponent = defaultOpponent(shared.game, game.opponent);
      void open(game, shared);
    } else if (game.shared) {
      route.go("/play", gameQuery(game.shared), true);
    } else if (offer.about) {
      const name = offer.about.default_game;
      game.opponent = defaultOpponent(name, game.opponent);
      void game.load({ game: name, setup: null, moves: [], at: 0, seats: [], opponent: null, resigned: null });
    }
  }
}

/** Loads a game; if that fails, no other game stays under its address. */
async function open(game: Game, shared: SharedGame): Promise<void> {
  if (!(await game.load(shared)) && game.error !== null) game.clear();
}

function isHere(): boolean {
  return (route.parts[0] ?? "play") === "play";
}
