/** Draws the visible part of a tree on a canvas, one path per style. */

import type { Camera, Size } from "./camera";
import { drawLabels } from "./labels";
import { COLUMN, ROW, type Layout, type Placed } from "./layout";
import { TINTS, tintOf, type Palette } from "./palette";

/** The visible part of one simulation. */
export interface Marks {
  path: readonly number[]; // nodes from the root to the leaf
  lit: number; // number of lit edges, from the top
  notes: ReadonlyMap<number, string>; // texts beside the path's nodes
  fresh: number | null; // the new node
}

export interface Scene {
  layout: Layout;
  xs: Float64Array; // current positions of nodes, in layout order
  ys: Float64Array;
  marks: Marks;
  collapsed: ReadonlySet<number>;
  pointed: number | null;
  hasFocus: boolean; // has keyboard focus
}

/** A visible node, in screen coordinates. */
export interface Seen {
  placed: Placed;
  x: number;
  y: number;
  radius: number;
}

const OUTSIDE = 40; // pixels beyond the edge that still count as visible
const WIDTHS = 6; // number of edge widths
const CURVED_FROM = 0.3; // below this zoom, edges are straight
const OUTLINED_FROM = 0.45;

type Context = CanvasRenderingContext2D;

export function drawTree(
  context: Context,
  scene: Scene,
  camera: Camera,
  palette: Palette,
  size: Size,
): void {
  context.clearRect(0, 0, size.width, size.height);
  const seen = findSeen(scene, camera, size);
  drawEdges(context, scene, camera, palette, size);
  drawLine(context, scene, camera, scene.layout.principal, palette.principal, 2.5);
  drawLitPath(context, scene, camera, palette);
  drawStubs(context, seen, palette);
  drawNodes(context, seen, palette, camera.zoom);
  drawRings(context, scene, seen, palette);
  drawLabels(context, scene, seen, palette, camera, size);
}

/** The visible nodes. */
export function findSeen(scene: Scene, camera: Camera, size: Size): Seen[] {
  const { layout, xs, ys } = scene;
  const { zoom, down } = camera;
  const most = Math.sqrt(layout.mostVisits);
  const base = Math.min(13, Math.max(1.8, Math.min(0.36 * COLUMN * zoom, 0.3 * ROW * down)));
  const seen: Seen[] = [];
  for (let index = 0; index < layout.placed.length; index += 1) {
    const x = (xs[index] ?? 0) * zoom + camera.x;
    if (x < -OUTSIDE || x > size.width + OUTSIDE) continue;
    const y = (ys[index] ?? 0) * down + camera.y;
    if (y < -OUTSIDE || y > size.height + OUTSIDE) continue;
    const placed = layout.placed[index] as Placed;
    const radius = base * (0.75 + (0.5 * Math.sqrt(placed.node.visits)) / most);
    seen.push({ placed, x, y, radius });
  }
  return seen;
}

/** The node at a screen point, or the nearest one within reach. */
export function nodeAt(scene: Scene, camera: Camera, size: Size, x: number, y: number): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (const one of findSeen(scene, camera, size)) {
    const distance = Math.hypot(one.x - x, one.y - y) - one.radius;
    if (distance < 8 && distance < least) [best, least] = [one.placed.node.node, distance];
  }
  return best;
}

function drawEdges(context: Context, scene: Scene, camera: Camera, palette: Palette, size: Size): void {
  const { layout, xs, ys } = scene;
  const { zoom, down } = camera;
  const indices = indexOf(layout);
  const paths = Array.from({ length: WIDTHS }, () => new Path2D());
  const isCurved = zoom >= CURVED_FROM;
  for (let index = 1; index < layout.placed.length; index += 1) {
    const placed = layout.placed[index] as Placed;
    const from = placed.parent ? indices.get(placed.parent) : undefined;
    if (from === undefined) continue;
    const [x, parentX] = [(xs[index] ?? 0) * zoom + camera.x, (xs[from] ?? 0) * zoom + camera.x];
    if ((x < 0 && parentX < 0) || (x > size.width && parentX > size.width)) continue;
    const [y, parentY] = [(ys[index] ?? 0) * down + camera.y, (ys[from] ?? 0) * down + camera.y];
    if (y < 0 || parentY > size.height) continue;
    const share = Math.sqrt(placed.node.visits / layout.mostVisits);
    const path = paths[Math.min(WIDTHS - 1, Math.floor(share * WIDTHS))] as Path2D;
    trace(path, parentX, parentY, x, y, isCurved);
  }
  context.strokeStyle = palette.edge;
  paths.forEach((path, step) => {
    context.lineWidth = (zoom < OUTLINED_FROM ? 0.6 : 1) * (0.8 + step * 0.9);
    context.stroke(path);
  });
}

function trace(path: Path2D, fromX: number, fromY: number, x: number, y: number, isCurved: boolean): void {
  path.moveTo(fromX, fromY);
  if (isCurved) {
    const middle = (fromY + y) / 2;
    path.bezierCurveTo(fromX, middle, x, middle, x, y);
  } else path.lineTo(x, y);
}

/** A line of nodes, each below the one before. */
function drawLine(
  context: Context,
  scene: Scene,
  camera: Camera,
  line: readonly Placed[],
  colour: string,
  width: number,
): void {
  const indices = indexOf(scene.layout);
  const { zoom, down } = camera;
  const path = new Path2D();
  for (let step = 1; step < line.length; step += 1) {
    const [from, to] = [indices.get(line[step - 1] as Placed), indices.get(line[step] as Placed)];
    if (from === undefined || to === undefined) continue;
    trace(
      path,
      (scene.xs[from] ?? 0) * zoom + camera.x,
      (scene.ys[from] ?? 0) * down + camera.y,
      (scene.xs[to] ?? 0) * zoom + camera.x,
      (scene.ys[to] ?? 0) * down + camera.y,
      zoom >= CURVED_FROM,
    );
  }
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke(path);
}

function drawLitPath(context: Context, scene: Scene, camera: Camera, palette: Palette): void {
  const { path, lit } = scene.marks;
  const line = path
    .slice(0, lit + 1)
    .map((node) => scene.layout.byId.get(node))
    .filter((placed) => placed !== undefined);
  drawLine(context, scene, camera, line, palette.ground, 7);
  drawLine(context, scene, camera, line, palette.path, 4);
}

/** Tails below nodes with hidden descendants. */
function drawStubs(context: Context, seen: readonly Seen[], palette: Palette): void {
  const path = new Path2D();
  for (const { placed, x, y, radius } of seen) {
    if (placed.node.hidden === 0) continue;
    path.moveTo(x, y + radius);
    path.lineTo(x, y + radius * 1.7 + 1);
  }
  context.strokeStyle = palette.outline;
  context.lineWidth = 1.5;
  context.stroke(path);
}

function drawNodes(context: Context, seen: readonly Seen[], palette: Palette, zoom: number): void {
  const fills = Array.from({ length: TINTS + 1 }, () => new Path2D());
  for (const one of seen) {
    const { node } = one.placed;
    const tint = tintOf(node.visits > 0 || one.placed.parent === null ? node.q : null);
    shape(fills[tint] as Path2D, one, node.is_over);
  }
  const isOutlined = zoom >= OUTLINED_FROM;
  context.strokeStyle = palette.outline;
  context.lineWidth = 1;
  fills.forEach((path, tint) => {
    context.fillStyle = palette.tints[tint] ?? palette.unknown;
    context.fill(path);
    if (isOutlined) context.stroke(path);
  });
}

/** Circles, or squares if the game is over. */
function shape(path: Path2D, { x, y, radius }: Seen, isOver: boolean, more = 0): void {
  const reach = radius + more;
  if (isOver) {
    path.rect(x - reach * 0.9, y - reach * 0.9, reach * 1.8, reach * 1.8);
  } else {
    path.moveTo(x + reach, y);
    path.arc(x, y, reach, 0, 2 * Math.PI);
  }
}

/** Rings around proven nodes, the lit path, the new node and the node pointed at. */
function drawRings(context: Context, scene: Scene, seen: readonly Seen[], palette: Palette): void {
  const { marks } = scene;
  const lit = new Set(marks.path.slice(0, marks.lit + 1));
  const [proven, path, fresh, pointed] = [new Path2D(), new Path2D(), new Path2D(), new Path2D()];
  for (const one of seen) {
    const { node, exact, is_over } = one.placed.node;
    if (exact !== null && !is_over) shape(proven, one, false, 3);
    if (lit.has(node)) shape(path, one, is_over);
    if (node === marks.fresh) shape(fresh, one, is_over, 5);
    if (node === scene.pointed) shape(pointed, one, is_over, 4);
  }
  stroke(context, proven, palette.ink, 1.5);
  stroke(context, path, palette.path, 2.5);
  context.setLineDash([4, 3]);
  stroke(context, fresh, palette.path, 2);
  context.setLineDash([]);
  stroke(context, pointed, scene.hasFocus ? palette.focus : palette.ink, 2);
}

function stroke(context: Context, path: Path2D, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke(path);
}

const indices = new WeakMap<Layout, Map<Placed, number>>();

function indexOf(layout: Layout): Map<Placed, number> {
  let known = indices.get(layout);
  if (!known) {
    known = new Map(layout.placed.map((placed, index) => [placed, index]));
    indices.set(layout, known);
  }
  return known;
}
