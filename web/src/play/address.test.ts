import { expect, test } from "vitest";

import { linkTo } from "../addresses";
import { gameQuery, readGame, type SharedGame } from "./address";
import { DEFAULT_CHOICE } from "./agents";

test("a game can be read back from its address", () => {
  const shared: SharedGame = {
    game: "trio",
    setup: null,
    moves: [3, 0, 7],
    at: 2,
    seats: ["human", "agent", "human"],
    opponent: { ...DEFAULT_CHOICE, kind: "uct", simulations: 60 },
    resigned: 2,
  };
  const query = new URLSearchParams(linkTo("/play", gameQuery(shared)).split("?")[1]);
  expect(query.get("seats")).toBe("hmh");
  expect(readGame(query)).toEqual(shared);
});
