/** Editing a position by hand. */

export type Cells = readonly (readonly string[])[];

/**
 * The cells after a click with a piece; clicking the same piece removes it.
 *
 * `blank` is the text of an empty cell. On boards with lines between dots, a click on the place of
 * a line draws or removes it whatever the piece, and dots stay.
 */
export function editCell(
  cells: Cells,
  row: number,
  col: number,
  piece: string,
  blank: string,
): string[][] {
  const now = cells[row]?.[col];
  const copy = cells.map((texts) => [...texts]);
  const target = copy[row];
  if (now === undefined || !target || now === "+") return copy;
  const line = lineAt(cells, row, col);
  const isLine = piece === "-" || piece === "|";
  if (isLine && line === null && hasDots(cells)) return copy; // a box cannot hold a line
  const next = line !== null && piece !== blank ? line : piece;
  target[col] = now === next ? blank : next;
  return copy;
}

/** The line that this cell can hold, or null. */
function lineAt(cells: Cells, row: number, col: number): "-" | "|" | null {
  const isThinRow = (cells[row] ?? []).includes("+");
  const isThinCol = cells.some((texts) => texts[col] === "+");
  if (isThinRow === isThinCol) return null;
  return isThinRow ? "-" : "|";
}

function hasDots(cells: Cells): boolean {
  return cells.some((row) => row.includes("+"));
}
