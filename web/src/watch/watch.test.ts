import { describe, expect, it } from "vitest";

import type { TreeNode } from "../api/schema";
import { fit, zoomAt } from "./camera";
import { Latest } from "../latest";
import { COLUMN, layOut, ROW } from "./layout";
import { Motion } from "./motion";
import { TINTS, tintOf } from "./palette";
import { agentOf, defaultSettings, readSettings, settingsQuery, type Settings } from "./settings";
import { linkTo } from "../addresses";

function node(id: number, parent: number, visits: number, action = id): TreeNode {
  const move = parent < 0 ? null : { action, name: String(action), player: 0 };
  return { node: id, parent, move, depth: 0, visits, q: 0, prior: 0.5, is_over: false, exact: null, hidden: 0 };
}

describe("the layout", () => {
  const nodes = [node(0, -1, 9), node(1, 0, 2, 5), node(2, 0, 6, 3), node(3, 2, 4), node(4, 2, 1)];

  it("puts parents above their children, and siblings in move order", () => {
    const { byId, box } = layOut(nodes);
    expect(byId.get(3)?.y).toBe(2 * ROW);
    expect(byId.get(2)?.x).toBeLessThan(byId.get(1)?.x ?? 0);
    expect(box.bottom).toBe(2 * ROW);
  });

  it("keeps nodes of one row at least a column apart", () => {
    const { placed } = layOut(nodes);
    for (const one of placed) {
      for (const other of placed) {
        if (one !== other && one.y === other.y) expect(Math.abs(one.x - other.x)).toBeGreaterThanOrEqual(COLUMN - 1e-9);
      }
    }
  });

  it("follows the most visited child down", () => {
    expect(layOut(nodes).principal.map((one) => one.node.node)).toEqual([0, 2, 3]);
  });

  it("moves nodes from their old places, and new ones from their parent", () => {
    const motion = new Motion();
    motion.head(layOut(nodes.slice(0, 2)), 0, 100);
    const [x, y] = [motion.xs[0], motion.ys[0]];
    motion.head(layOut(nodes), 1000, 100);
    expect([motion.xs[3], motion.ys[3]]).toEqual([x, y]);
    expect(motion.advance(1050)).toBe(true);
    expect(motion.advance(1100)).toBe(false);
    expect(motion.ys[4]).toBe(2 * ROW);
  });
});

describe("the camera", () => {
  it("fits a box into the screen", () => {
    const box = { left: -500, right: 700, top: 0, bottom: 900 };
    const camera = fit(box, { width: 640, height: 400 });
    for (const [x, y] of [[box.left, box.top], [box.right, box.bottom]] as const) {
      expect(x * camera.zoom + camera.x).toBeGreaterThanOrEqual(0);
      expect(x * camera.zoom + camera.x).toBeLessThanOrEqual(640);
      expect(y * camera.down + camera.y).toBeLessThanOrEqual(400);
    }
  });

  it("zooms around the pointer", () => {
    const before = { zoom: 0.5, down: 0.7, x: 30, y: 40 };
    const after = zoomAt(before, 1.7, 200, 120);
    expect((200 - after.x) / after.zoom).toBeCloseTo((200 - before.x) / before.zoom);
    expect((120 - after.y) / after.down).toBeCloseTo((120 - before.y) / before.down);
  });
});

describe("the newest request", () => {
  it("is the only one of those made while another is running that runs", async () => {
    const done: number[] = [];
    const open: (() => void)[] = [];
    const latest = new Latest<number, number>(
      (request) => new Promise((resolve) => open.push(() => resolve(request))),
      (_, result) => done.push(result),
      () => undefined,
    );
    for (const request of [1, 2, 3, 4]) latest.ask(request);
    open.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
    open.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
    expect(done).toEqual([1, 4]);
    expect(open).toEqual([]);
  });
});

describe("settings", () => {
  it("can be read back from an address", () => {
    const settings: Settings = {
      ...defaultSettings(),
      evaluator: "network",
      run: "c4",
      step: 0,
      simulations: 12345,
      selection: "puct",
      cPuct: 2.5,
      hasNoise: true,
      alpha: 0.3,
      hasProofs: true,
      seed: 7,
    };
    const link = linkTo("/watch", settingsQuery(settings, "b_"));
    expect(readSettings(new URLSearchParams(link.split("?")[1]), "b_")).toEqual(settings);
  });

  it("request noise only if the formula has priors", () => {
    const settings: Settings = { ...defaultSettings(), hasNoise: true, alpha: 0.3 };
    expect(agentOf(settings).options).toMatchObject({ selection: "uct", noise_weight: 0, c_uct: 1.41 });
    expect(agentOf({ ...settings, selection: "puct" }).options).toMatchObject({ noise_weight: 0.25, noise_alpha: 0.3 });
  });
});

describe("tints", () => {
  it("go from lost to won, with a separate one for unknown values", () => {
    expect([tintOf(-1), tintOf(0), tintOf(1), tintOf(null)]).toEqual([0, (TINTS - 1) / 2, TINTS - 1, TINTS]);
  });
});
