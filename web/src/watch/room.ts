/** Tracks occupied parts of a canvas, in small squares, so that texts find free places. */

import type { Size } from "./camera";

export interface Rectangle {
  x: number; // left
  y: number; // top
  width: number;
  height: number;
}

const SQUARE = 4; // pixels
const NODE = 1;
const TEXT = 2;

export class Room {
  readonly #columns: number;
  readonly #rows: number;
  readonly #taken: Uint8Array;

  constructor(private readonly size: Size) {
    this.#columns = Math.max(1, Math.ceil(size.width / SQUARE));
    this.#rows = Math.max(1, Math.ceil(size.height / SQUARE));
    this.#taken = new Uint8Array(this.#columns * this.#rows);
  }

  takeNode(x: number, y: number, radius: number): void {
    this.#take({ x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius }, NODE);
  }

  takeText(text: Rectangle): void {
    this.#take(text, TEXT);
  }

  /** The first free place; failing that, the first without text, if allowed. */
  find(places: readonly Rectangle[], mayCoverNodes: boolean): Rectangle | undefined {
    const free = places.find((place) => this.#isFree(place, NODE | TEXT));
    return free ?? (mayCoverNodes ? places.find((place) => this.#isFree(place, TEXT)) : undefined);
  }

  #isFree(place: Rectangle, kinds: number): boolean {
    const { x, y, width, height } = place;
    if (x < 0 || y < 0 || x + width > this.size.width || y + height > this.size.height) return false;
    return this.#each(place, (square) => ((this.#taken[square] ?? 0) & kinds) === 0);
  }

  #take(place: Rectangle, kind: number): void {
    this.#each(place, (square) => {
      this.#taken[square] = (this.#taken[square] ?? 0) | kind;
      return true;
    });
  }

  /** Visits the squares of a rectangle while `visit` returns true. */
  #each({ x, y, width, height }: Rectangle, visit: (square: number) => boolean): boolean {
    const [left, top] = [Math.max(0, Math.floor(x / SQUARE)), Math.max(0, Math.floor(y / SQUARE))];
    const right = Math.min(this.#columns, Math.ceil((x + width) / SQUARE));
    const bottom = Math.min(this.#rows, Math.ceil((y + height) / SQUARE));
    for (let row = top; row < bottom; row += 1) {
      for (let column = left; column < right; column += 1) {
        if (!visit(row * this.#columns + column)) return false;
      }
    }
    return true;
  }
}

/** Places for a text beside a node: right, left, then the corners, above and below. */
export function placesBeside(x: number, y: number, radius: number, width: number, height: number): Rectangle[] {
  const gap = 3;
  const [right, left] = [x + radius + gap, x - radius - gap - width];
  const [above, below] = [y - radius - gap - height, y + radius + gap];
  const corners: [number, number][] = [
    [right, y - height / 2],
    [left, y - height / 2],
    [x + gap, below],
    [x - gap - width, below],
    [x + gap, above],
    [x - gap - width, above],
    [x - width / 2, below],
    [x - width / 2, above],
    [x + gap, below + height],
    [x - gap - width, below + height],
    [x + gap, above - height],
    [x - gap - width, above - height],
  ];
  return corners.map(([left, top]) => ({ x: left, y: top, width, height }));
}
