/** What can be drawn on top of a board. */

/** The search's share for a move, from 0 to 1, and an optional label. */
export interface Heat {
  share: number;
  label?: string;
}

/** A stone of a variation, with its number in it. */
export interface Ghost {
  row: number;
  col: number;
  text: string; // the piece
  number: number;
}
