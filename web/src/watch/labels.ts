/** Labels of nodes: always for important ones, for others if there is room. */

import { percent, short, signed } from "../numbers";
import type { Camera, Size } from "./camera";
import type { Scene, Seen } from "./drawing";
import { COLUMN, ROW } from "./layout";
import { TINTS, tintOf, type Palette } from "./palette";
import { placesBeside, Room } from "./room";

const NAMED_FROM = 17; // pixels between siblings
const COUNTED_FROM = 27;
const DETAILED_FROM = 46;
const COUNTED_FROM_ROWS = 40; // pixels between a node and its children
const DETAILED_FROM_ROWS = 74;
const STRONG = 3; // tint steps from even at which text needs the inverse ink
const NOTE = 15; // pixels, the height of a plate
const LINE = 11.5; // pixels between lines of text

type Context = CanvasRenderingContext2D;

export function drawLabels(
  context: Context,
  scene: Scene,
  seen: readonly Seen[],
  palette: Palette,
  camera: Camera,
  size: Size,
): void {
  const across = COLUMN * camera.zoom;
  const rows = ROW * camera.down;
  const isDetailed = across >= DETAILED_FROM && rows >= DETAILED_FROM_ROWS;
  const isCounted = across >= COUNTED_FROM && rows >= COUNTED_FROM_ROWS;
  const room = new Room(size);
  for (const { x, y, radius } of seen) room.takeNode(x, y, radius);
  context.textAlign = "center";
  context.textBaseline = "middle";
  const hasNames = across >= NAMED_FROM;
  if (hasNames) drawNames(context, seen, palette, camera.zoom);
  if (isDetailed) drawNumbers(context, scene, seen, palette, room, true);
  drawNotes(context, scene, seen, palette, room);
  if (!isDetailed) drawImportant(context, scene, seen, palette, room, hasNames);
  if (isCounted && !isDetailed) drawNumbers(context, scene, seen, palette, room, false);
}

function drawNames(context: Context, seen: readonly Seen[], palette: Palette, zoom: number): void {
  context.font = `600 ${zoom > 1.8 ? 11 : 9}px ${palette.font}`;
  for (const one of seen) {
    const { node } = one.placed;
    if (!fitsInside(one)) continue;
    const isStrong = Math.abs(tintOf(node.q) - (TINTS - 1) / 2) >= STRONG;
    context.fillStyle = isStrong && node.q !== null ? palette.ground : palette.ink;
    context.fillText(node.move?.name ?? "", one.x, one.y + 0.5);
  }
}

function fitsInside({ placed, radius }: Seen): boolean {
  return (placed.node.move?.name ?? "").length * 6 <= 2 * radius + 2;
}

/** The numbers below the nodes; only counts if nothing else is written. */
function drawNumbers(
  context: Context,
  scene: Scene,
  seen: readonly Seen[],
  palette: Palette,
  room: Room,
  isDetailed: boolean,
): void {
  context.font = `${isDetailed ? 10.5 : 9}px ${palette.font}`;
  context.textAlign = "center";
  const important = isDetailed ? null : importantNodes(scene);
  for (const { placed, x, y, radius } of seen) {
    const { node } = placed;
    if (important?.has(node.node)) continue; // its numbers are beside it
    const lines = isDetailed ? detailsOf(node) : [short(node.visits)];
    if (node.hidden > 0 && (isDetailed || scene.collapsed.has(node.node))) lines.push(`+${short(node.hidden)}`);
    const width = Math.max(...lines.map((line) => context.measureText(line).width));
    const box = { x: x - width / 2, y: y + radius + 3, width, height: lines.length * LINE };
    if (!isDetailed && !room.find([box], false)) continue;
    room.takeText(box);
    lines.forEach((line, row) => {
      write(context, palette, line, x, y + radius + 9 + row * LINE, row === 0 ? palette.ink : palette.inkSoft);
    });
  }
}

function detailsOf(node: Seen["placed"]["node"]): string[] {
  const lines = [`N ${short(node.visits)}`];
  if (node.exact !== null) lines.push(`= ${signed(node.exact, 0)}`);
  else if (node.q !== null) lines.push(`Q ${signed(node.q)}`);
  if (node.prior !== null) lines.push(`P ${percent(node.prior)}`);
  return lines;
}

/** The simulation's path, the best line and the root's children, most important first. */
function importantNodes({ marks, layout }: Scene): ReadonlySet<number> {
  const children = [...(layout.placed[0]?.children ?? [])].sort((a, b) => b.node.visits - a.node.visits);
  return new Set([
    ...layout.principal.slice(0, 2).map((placed) => placed.node.node),
    ...marks.path,
    ...children.map((placed) => placed.node.node),
    ...layout.principal.map((placed) => placed.node.node),
  ]);
}

/** Texts beside the important nodes, at every zoom: the longest that fits. */
function drawImportant(
  context: Context,
  scene: Scene,
  seen: readonly Seen[],
  palette: Palette,
  room: Room,
  hasNames: boolean,
): void {
  context.font = `600 10px ${palette.font}`;
  context.textAlign = "left";
  const byNode = new Map(seen.map((one) => [one.placed.node.node, one]));
  for (const number of importantNodes(scene)) {
    const one = byNode.get(number);
    if (!one) continue;
    const texts = textsOf(one, hasNames && fitsInside(one));
    // Neighbours are covered only if there is no other place, and then by the shortest text.
    for (const [index, text] of texts.entries()) {
      const width = context.measureText(text).width + 2;
      const places = placesBeside(one.x, one.y, one.radius, width, LINE);
      const place = room.find(places, index === texts.length - 1);
      if (!place) continue;
      room.takeText(place);
      write(context, palette, text, place.x + 1, place.y + LINE / 2, palette.ink);
      break;
    }
  }
}

/** Candidate texts beside a node, longest first. */
function textsOf({ placed }: Seen, isNamed: boolean): string[] {
  const { node } = placed;
  const name = isNamed ? "" : `${node.move?.name ?? "root"}: `;
  const value = node.exact !== null ? ` = ${signed(node.exact, 0)}` : node.q === null ? "" : ` Q ${signed(node.q)}`;
  const counted = `${name}N ${short(node.visits)}`;
  const brief = `${name}${short(node.visits)}`;
  return [...new Set([counted + value, counted, brief])];
}

/** Text with an outline in the background colour, readable across an edge. */
function write(context: Context, palette: Palette, text: string, x: number, y: number, colour: string): void {
  context.lineWidth = 3;
  context.strokeStyle = palette.ground;
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** Backed-up values on plates beside the nodes; no plate covers another node, except the leaf's, which is always shown. */
function drawNotes(context: Context, scene: Scene, seen: readonly Seen[], palette: Palette, room: Room): void {
  if (scene.marks.notes.size === 0) return;
  const leaf = scene.marks.path.at(-1);
  context.font = `650 10.5px ${palette.font}`;
  context.textAlign = "left";
  for (const { placed, x, y, radius } of [...seen].reverse()) {
    const note = scene.marks.notes.get(placed.node.node);
    if (note === undefined) continue;
    const width = context.measureText(note).width + 8;
    const places = placesBeside(x, y, radius + 2, width, NOTE);
    const place = room.find(places, placed.node.node === leaf);
    if (!place) continue;
    room.takeText(place);
    context.fillStyle = palette.path;
    context.beginPath();
    context.roundRect(place.x, place.y, width, NOTE, 5);
    context.fill();
    context.fillStyle = palette.onPath;
    context.fillText(note, place.x + 4, place.y + NOTE / 2 + 0.5);
  }
}
