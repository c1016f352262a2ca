/** What can be drawn on top of a board. */

/** How much a move was thought about: its share from 0 to 1, and what to write instead of it. */
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
