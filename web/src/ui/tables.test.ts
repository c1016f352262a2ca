import { expect, test } from "vitest";

import { sortRows, type Column } from "./tables";

interface Row {
  name: string;
  q: number | null;
}

const columns: Column<Row>[] = [
  { name: "name", title: "Name", value: (row) => row.name, isText: true },
  { name: "q", title: "Q", value: (row) => row.q },
];
const rows: Row[] = [
  { name: "move 10", q: 0.1 },
  { name: "move 9", q: null },
  { name: "move 2", q: 0.7 },
];

function names(column: string, isDescending: boolean): string[] {
  return sortRows(rows, columns, { column, isDescending }).map((row) => row.name);
}

test("what has no value comes last, either way", () => {
  expect(names("q", false)).toEqual(["move 10", "move 2", "move 9"]);
  expect(names("q", true)).toEqual(["move 2", "move 10", "move 9"]);
});

test("numbers in names count as numbers", () => {
  expect(names("name", false)).toEqual(["move 2", "move 9", "move 10"]);
});

test("without sorting the order stays", () => {
  expect(sortRows(rows, columns, null)).toEqual(rows);
});
