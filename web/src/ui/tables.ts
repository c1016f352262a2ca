/** Columns of a DataTable. */

import type { Snippet } from "svelte";

export interface Column<Row> {
  name: string;
  title: string;
  /** What to sort by and, without `cell`, to show; null comes last either way. */
  value: (row: Row) => string | number | null;
  format?: (row: Row) => string;
  cell?: Snippet<[Row]>;
  isText?: boolean; // set left; numbers are set right
  hint?: string; // as the title of the heading
  isFixed?: boolean; // not to be sorted by
}

export interface Sorting {
  column: string;
  isDescending: boolean;
}

/** The rows in order; the order given stands where values are equal or nothing is sorted by. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | null,
): Row[] {
  const column = columns.find((one) => one.name === sorting?.column);
  if (!column || !sorting) return [...rows];
  const sign = sorting.isDescending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const left = column.value(a);
    const right = column.value(b);
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * String(left).localeCompare(String(right), "en", { numeric: true });
  });
}
