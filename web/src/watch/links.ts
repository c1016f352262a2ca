/** Links from a search to Formula. */

import type { NodeView } from "../api/schema";
import { writeChildren } from "../formula/address";
import { linkTo } from "../router.svelte";
import { takesNoise, type Settings } from "./settings";

const BASE = 19652; // c_puct_base, unchanged by these searches

/** Formula with the moves of a node; priors already include the root's noise. */
export function formulaLink(node: Pick<NodeView, "moves">, settings: Settings): string {
  const children = node.moves.map((move) => ({
    name: move.name,
    prior: Math.min(1, Math.max(0, move.prior ?? 0)),
    visits: move.visits ?? 0,
    q: Math.min(1, Math.max(-1, move.q ?? 0)),
  }));
  return linkTo("/formula", {
    selection: settings.selection === "gumbel" ? null : settings.selection,
    c_uct: settings.selection === "uct" ? settings.cUct : null,
    c_puct: takesNoise(settings) ? settings.cPuct : null,
    c_puct_base: takesNoise(settings) ? BASE : null,
    children: writeChildren(children),
  });
}
