/** A canvas with a tree: its content, its camera, and when it is redrawn. */

import type { TreeNode } from "../api/schema";
import { between, fit, keepInSight, pan, zoomAt, type Camera, type Size } from "./camera";
import { drawTree, nodeAt, type Marks, type Scene } from "./drawing";
import { boxAround, layOut, type Layout } from "./layout";
import { ease, GLIDE_MS, Motion } from "./motion";
import { motionPreference } from "./motion_preference.svelte";
import { readPalette, type Palette } from "./palette";

/** What the camera does when the tree changes: show all, follow the best line, or stay. */
export type Aim = "all" | "best" | "free";

export const MEASURE = "draw the tree"; // name of the measure in the browser's performance timeline
const NO_MARKS: Marks = { path: [], lit: 0, notes: new Map(), fresh: null };
const LINE_ZOOM = 2.4; // the largest zoom when following the best line

export class Stage {
  aim = $state<Aim>("all");
  pointed = $state<number | null>(null);
  layout = $state.raw<Layout>(layOut([]));
  #marks: Marks = NO_MARKS;
  #collapsed: ReadonlySet<number> = new Set();
  #hasFocus = false;
  #canvas: HTMLCanvasElement | null = null;
  #size: Size = { width: 1, height: 1 };
  #camera: Camera = { zoom: 1, down: 1, x: 0, y: 0 };
  #flight: { from: Camera; to: Camera; start: number } | null = null;
  #palette: Palette | null = null;
  readonly #motion = new Motion();
  #request = 0;

  attach(canvas: HTMLCanvasElement): () => void {
    this.#canvas = canvas;
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(canvas);
    this.#resize();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(this.#request);
      this.#request = 0;
      this.#canvas = null;
    };
  }

  /** Shows another tree; nodes glide to their new places unless `isQuick`. */
  setTree(nodes: readonly TreeNode[], isQuick: boolean): void {
    this.layout = layOut(nodes);
    const duration = isQuick || motionPreference.isReduced ? 0 : GLIDE_MS;
    this.#motion.head(this.layout, performance.now(), duration);
    this.#aimCamera(duration > 0);
    this.draw();
  }

  setMarks(marks: Marks, collapsed: ReadonlySet<number>): void {
    this.#marks = marks;
    this.#collapsed = collapsed;
    this.draw();
  }

  setFocus(hasFocus: boolean): void {
    this.#hasFocus = hasFocus;
    this.draw();
  }

  /** The theme has changed. */
  recolour(): void {
    this.#palette = null;
    this.draw();
  }

  take(aim: Aim): void {
    this.aim = aim;
    this.#aimCamera(!motionPreference.isReduced);
    this.draw();
  }

  pan(dx: number, dy: number): void {
    this.#move(pan(this.#camera, dx, dy));
  }

  /** Zooms around a point of the canvas, or its centre. */
  zoom(factor: number, x = this.#size.width / 2, y = this.#size.height / 2): void {
    this.#move(zoomAt(this.#camera, factor, x, y));
  }

  find(x: number, y: number): number | null {
    return nodeAt(this.#scene, this.#camera, this.#size, x, y);
  }

  /** Points at a neighbour of the node pointed at, or at the root if none is. */
  walk(direction: "up" | "down" | "left" | "right"): void {
    const at = this.pointed === null ? undefined : this.layout.byId.get(this.pointed);
    const beside = at?.parent?.children ?? [];
    const index = at ? beside.indexOf(at) : -1;
    const next = !at
      ? this.layout.placed[0]
      : { up: at.parent, down: at.children[0], left: beside[index - 1], right: beside[index + 1] }[direction];
    if (!next) return;
    this.pointed = next.node.node;
    const moved = keepInSight(this.#camera, next.x, next.y, this.#size);
    if (moved !== this.#camera) this.#move(moved);
    this.draw();
  }

  /** Draws in the next frame; several requests make one drawing. */
  draw(): void {
    if (this.#request === 0 && this.#canvas) {
      this.#request = requestAnimationFrame((now) => this.#render(now));
    }
  }

  get #scene(): Scene {
    return {
      layout: this.layout,
      xs: this.#motion.xs,
      ys: this.#motion.ys,
      marks: this.#marks,
      collapsed: this.#collapsed,
      pointed: this.pointed,
      hasFocus: this.#hasFocus,
    };
  }

  #move(camera: Camera): void {
    this.aim = "free"; // the user controls the camera from now on
    this.#flight = null;
    this.#camera = camera;
    this.draw();
  }

  #resize(): void {
    const canvas = this.#canvas;
    if (!canvas) return;
    const ratio = window.devicePixelRatio || 1;
    this.#size = { width: canvas.clientWidth, height: canvas.clientHeight };
    canvas.width = Math.max(1, Math.round(this.#size.width * ratio));
    canvas.height = Math.max(1, Math.round(this.#size.height * ratio));
    this.#aimCamera(false);
    this.draw();
  }

  #aimCamera(isGliding: boolean): void {
    const { principal, box } = this.layout;
    if (this.aim === "free" || this.layout.placed.length === 0) return;
    const to =
      this.aim === "best" ? fit(boxAround(principal), this.#size, LINE_ZOOM) : fit(box, this.#size);
    this.#flight = isGliding ? { from: this.#camera, to, start: performance.now() } : null;
    if (!isGliding) this.#camera = to;
  }

  #render(now: number): void {
    this.#request = 0;
    const context = this.#canvas?.getContext("2d");
    if (!this.#canvas || !context) return;
    const start = performance.now();
    this.#palette ??= readPalette(this.#canvas.parentElement ?? document.body);
    const isGliding = this.#motion.advance(now);
    const isFlying = this.#fly(now);
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawTree(context, this.#scene, this.#camera, this.#palette, this.#size);
    performance.measure(MEASURE, { start });
    performance.clearMeasures(MEASURE);
    if (isGliding || isFlying) this.draw();
  }

  #fly(now: number): boolean {
    if (!this.#flight) return false;
    const { from, to, start } = this.#flight;
    const time = Math.min(1, Math.max(0, (now - start) / GLIDE_MS));
    this.#camera = between(from, to, ease(time));
    if (time === 1) this.#flight = null;
    return time < 1;
  }
}
