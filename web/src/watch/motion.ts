/** Animates nodes while a tree changes: each glides from its old place, new ones from their parent. */

import type { Layout } from "./layout";

export const GLIDE_MS = 260;

export class Motion {
  xs = new Float64Array(0); // current positions, in layout order
  ys = new Float64Array(0);
  #layout: Layout | null = null;
  #fromX = new Float64Array(0);
  #fromY = new Float64Array(0);
  #start = 0;
  #duration = 0;

  /** Starts moving to a new layout; a duration of 0 jumps there. */
  head(layout: Layout, now: number, duration: number): void {
    const before = this.#layout;
    const old = new Map<number, number>();
    before?.placed.forEach((one, index) => old.set(one.node.node, index));
    const count = layout.placed.length;
    const [fromX, fromY] = [new Float64Array(count), new Float64Array(count)];
    const places = new Map<number, number>();
    layout.placed.forEach((one, index) => {
      places.set(one.node.node, index);
      const known = old.get(one.node.node);
      const parent = one.parent ? places.get(one.parent.node.node) : undefined;
      if (known !== undefined) {
        fromX[index] = this.xs[known] ?? one.x;
        fromY[index] = this.ys[known] ?? one.y;
      } else {
        fromX[index] = before && parent !== undefined ? (fromX[parent] ?? one.x) : one.x;
        fromY[index] = before && parent !== undefined ? (fromY[parent] ?? one.y) : one.y;
      }
    });
    this.#fromX = fromX;
    this.#fromY = fromY;
    this.#layout = layout;
    this.#start = now;
    this.#duration = before ? duration : 0;
    this.xs = new Float64Array(count);
    this.ys = new Float64Array(count);
    this.advance(now);
  }

  /** Advances the animation; returns whether it is still running. */
  advance(now: number): boolean {
    const layout = this.#layout;
    if (!layout) return false;
    const time = this.#duration > 0 ? Math.min(1, (now - this.#start) / this.#duration) : 1;
    const share = ease(Math.max(0, time));
    layout.placed.forEach((one, index) => {
      const [fromX, fromY] = [this.#fromX[index] ?? one.x, this.#fromY[index] ?? one.y];
      this.xs[index] = fromX + (one.x - fromX) * share;
      this.ys[index] = fromY + (one.y - fromY) * share;
    });
    return time < 1;
  }
}

export function ease(time: number): number {
  return 1 - (1 - time) ** 3;
}
