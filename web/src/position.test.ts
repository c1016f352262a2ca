import { expect, test } from "vitest";
import { decodeSetup, encodeSetup, positionQuery, readPosition } from "./position.svelte";

test("a position can be read back from its address", () => {
  const setup = { to_play: 1, cells: [["x", "."], ["·", "ö"]] };
  const position = { game: "connect-four(rows=7,cols=8)", setup, moves: [3, 0, 12] };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(positionQuery(position))) query.set(name, String(value));
  expect(readPosition(query)).toEqual(position);
});

test("an address without a game has no position", () => {
  expect(readPosition(new URLSearchParams("moves=1,2"))).toBeNull();
});

test("an invalid setup is ignored", () => {
  expect(decodeSetup("!!")).toBeNull();
  expect(decodeSetup(encodeSetup({ to_play: 0, cells: [["x"]] }).slice(2))).toBeNull();
});
