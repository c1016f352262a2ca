import { expect, test } from "vitest";

import type { Generation } from "../api/schema";
import { bridge, layOut, newestOf, placeOf } from "./curves";
import { mainCurves, moreCurves } from "./kinds";

function generation(number: number, numbers: Generation["numbers"]): Generation {
  return { generation: number, step: number * 10, numbers };
}

function kindOf(name: string) {
  const kind = [...mainCurves, ...moreCurves].find((one) => one.name === name);
  if (!kind) throw new Error(`no curve ${name}`);
  return kind;
}

const first = [
  generation(1, { seconds: 60, total_games: 100, loss: 3, policy_loss: 2, value_loss: 1, rating: 200, rating_error: 50 }),
  generation(2, { seconds: 90, total_games: 180, loss: 2, policy_loss: 1.5, value_loss: 0.5 }),
  generation(3, { seconds: 180, total_games: 300, loss: 1, policy_loss: 0.8, value_loss: 0.2, rating: 300, rating_error: 40 }),
];
const second = [generation(1, { seconds: 90, loss: 4, policy_loss: 3, value_loss: 1 })];

test("a generation has a position on each axis", () => {
  expect(first.map((one) => placeOf(one, "generations"))).toEqual([1, 2, 3]);
  expect(first.map((one) => placeOf(one, "minutes"))).toEqual([1, 1.5, 3]);
  expect(first.map((one) => placeOf(one, "games"))).toEqual([100, 180, 300]);
});

test("generations without a measurement are skipped", () => {
  const { x, series } = layOut(kindOf("rating"), [{ run: "a", generations: first }], "generations");
  expect(x).toEqual([1, 3]);
  expect(series[0]?.values).toEqual([200, 300]);
  expect(series[0]?.low).toEqual([150, 260]);
  expect(series[0]?.high).toEqual([250, 340]);
});

test("two runs share one axis, with gaps where only the other has a value", () => {
  const sources = [
    { run: "a", generations: first },
    { run: "b", generations: second },
  ];
  const { x, series } = layOut(kindOf("loss"), sources, "minutes");
  expect(x).toEqual([1, 1.5, 3]);
  expect(series.map((one) => one.label)).toEqual([
    "total (a)",
    "policy (a)",
    "value (a)",
    "total (b)",
    "policy (b)",
    "value (b)",
  ]);
  expect(series[3]?.values).toEqual([null, 4, null]);
  expect(series.map((one) => one.isDashed)).toEqual([false, false, false, true, true, true]);
});

test("bands are interpolated across gaps, and not extended beyond the ends", () => {
  expect(bridge([null, 1, null, null, 4, null], [0, 1, 2, 3, 4, 5])).toEqual([null, 1, 2, 3, 4, null]);
  expect(bridge([1, null, 3], [0, 9, 10])).toEqual([1, 2.8, 3]);
});

test("a metric without values has no series", () => {
  expect(layOut(kindOf("accuracy"), [{ run: "a", generations: first }], "generations").series).toEqual([]);
});

test("every curve has one or two sentences on what to look for", () => {
  for (const { look } of [...mainCurves, ...moreCurves]) expect(look).toMatch(/^[A-Z].*\.$/);
});

test("the newest value is that of the last measured generation", () => {
  expect(newestOf(first, "rating")).toBe(300);
  expect(newestOf(first.slice(0, 2), "rating")).toBe(200);
  expect(newestOf(first, "accuracy")).toBeNull();
});
