import { describe, expect, it } from "vitest";

import { addVisits, readChildren, readFormula, writeChildren, writeFormula } from "./address";
import { findPreset, presets } from "./presets";
import { foremost, signsOf } from "./rows";

function through(state: ReturnType<typeof readFormula>): ReturnType<typeof readFormula> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(writeFormula(state))) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  return readFormula(query);
}

describe("the address", () => {
  it("is empty for the initial state", () => {
    const state = readFormula(new URLSearchParams());
    expect(state.preset).toBe("satellite");
    expect(Object.values(writeFormula(state)).filter((value) => value !== null)).toEqual([]);
  });

  it.each(presets.map((preset) => preset.name))("restores %s with changes of any kind", (name) => {
    const state = readFormula(new URLSearchParams({ preset: name }));
    expect(state.children).toEqual(findPreset(name).children);
    const changed = {
      ...state,
      settings: { ...state.settings, c_puct: 3.45, visit_term: "sum" as const, fpu: "parent" as const, parent_value: 0.25 },
      children: state.children.map((child) => ({ ...child, visits: child.visits + 1, q: -0.5 })),
      order: [0, 0, 2, 1],
      valueAfter: -0.125,
    };
    expect(through(changed)).toEqual(changed);
  });

  it("preserves names with any character", () => {
    const children = [{ name: "a*b, 50 % – ü:~", prior: 0.5, visits: 3, q: -0.25 }];
    expect(readChildren(writeChildren(children))).toEqual(children);
  });

  it("keeps the visits of a history that is too long to store", () => {
    const state = { ...readFormula(new URLSearchParams()), order: Array<number>(500).fill(2), valueAfter: 0.5 };
    const back = through(state);
    expect(back.order).toEqual([]);
    expect(back.children).toEqual(addVisits(state.children, state.order));
    expect(back.valueAfter).toBe(0.5);
  });

  it("reads invalid numbers as the nearest valid ones", () => {
    const query = new URLSearchParams({ c_puct: "-7", fpu: "maybe", children: "x*2*-3*9,y", order: "z0!" });
    const state = readFormula(query);
    expect(state.settings.c_puct).toBe(0);
    expect(state.settings.fpu).toBe("zero");
    expect(state.children).toEqual([{ name: "x", prior: 1, visits: 0, q: 1 }]);
    expect(state.order).toEqual([0]);
  });
});

describe("signs", () => {
  it("are as short as possible and unique", () => {
    expect(signsOf(["left", "middle", "right"])).toEqual(["L", "M", "R"]);
    expect(signsOf(["prograde", "retrograde", "radial"])).toEqual(["Pr", "Re", "Ra"]);
    expect(signsOf(["a1", "b2", "c12"])).toEqual(["a1", "b2", "c12"]);
    expect(signsOf(["a1-b1", "a1-c1"])).toEqual(["1", "2"]);
  });
});

describe("the most important children", () => {
  const children = Array.from({ length: 20 }, (_, index) => ({ visits: index < 5 ? 9 - index : 0, prior: index / 100 }));

  it("have the most visits, then the largest prior, in their original order", () => {
    expect(foremost(children, 0, 7)).toEqual([0, 1, 2, 3, 4, 18, 19]);
  });

  it("include the selected one", () => {
    expect(foremost(children, 9, 3)).toEqual([0, 1, 9]);
  });
});
