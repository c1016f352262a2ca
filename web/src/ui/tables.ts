/** Columns of a DataTable. */

import type { Snippet } from "svelte";

export interface Column<Row> {
  name: string;
  title: string;
  /** The value to sort by and, without `cell`, to show; null always comes last. */
  value: (row: Row) => string | number | null;
  format?: (row: Row) => string;
  cell?: Snippet<[Row]>;
  isText?: boolean; // aligned left; numbers are aligned right
  hint?: string; // as the title of the heading
  isFixed?: boolean; // not sortable
}

export interface Sorting {
  column: string;
  isDescending: boolean;
}

/** The sorted rows; ties and unsorted tables keep the given order. */
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
