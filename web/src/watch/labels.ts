/** What is written at the nodes, as far as there is room for it. */

import { percent, short, signed } from "../numbers";
import type { Camera } from "./camera";
import type { Scene, Seen } from "./drawing";
import { COLUMN, ROW } from "./layout";
import { TINTS, tintOf, type Palette } from "./palette";

const NAMED_FROM = 17; // pixels between siblings
const COUNTED_FROM = 27;
const DETAILED_FROM = 46;
const COUNTED_FROM_ROWS = 40; // pixels between a node and its children
const DETAILED_FROM_ROWS = 74;
const NOTED_FROM_ROWS = 22;
const STRONG = 3; // steps from even at which a tint wants the inverse ink

export function drawLabels(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: readonly Seen[],
  palette: Palette,
  camera: Camera,
): void {
  const room = COLUMN * camera.zoom;
  const rows = ROW * camera.down;
  context.textAlign = "center";
  context.textBaseline = "middle";
  if (room >= NAMED_FROM) drawNames(context, seen, palette, camera.zoom);
  if (room >= COUNTED_FROM && rows >= COUNTED_FROM_ROWS) {
    const isDetailed = room >= DETAILED_FROM && rows >= DETAILED_FROM_ROWS;
    drawNumbers(context, scene, seen, palette, isDetailed);
  }
  drawNotes(context, scene, seen, palette, rows);
}

function drawNames(
  context: CanvasRenderingContext2D,
  seen: readonly Seen[],
  palette: Palette,
  zoom: number,
): void {
  context.font = `600 ${zoom > 1.8 ? 11 : 9}px ${palette.font}`;
  for (const { placed, x, y, radius } of seen) {
    const { node } = placed;
    const name = node.move?.name ?? "";
    if (name.length * 6 > 2 * radius + 2) continue;
    const isStrong = Math.abs(tintOf(node.q) - (TINTS - 1) / 2) >= STRONG;
    context.fillStyle = isStrong && node.q !== null ? palette.ground : palette.ink;
    context.fillText(name, x, y + 0.5);
  }
}

function drawNumbers(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: readonly Seen[],
  palette: Palette,
  isDetailed: boolean,
): void {
  context.font = `${isDetailed ? 10.5 : 9}px ${palette.font}`;
  for (const { placed, x, y, radius } of seen) {
    const { node } = placed;
    const lines = isDetailed ? detailsOf(node) : [short(node.visits)];
    const hasBelow = node.hidden > 0;
    if (hasBelow && (isDetailed || scene.collapsed.has(node.node))) lines.push(`+${short(node.hidden)}`);
    lines.forEach((line, row) => {
      const lineY = y + radius + 9 + row * 11.5;
      context.lineWidth = 3;
      context.strokeStyle = palette.ground;
      context.strokeText(line, x, lineY); // keeps it readable on an edge
      context.fillStyle = row === 0 ? palette.ink : palette.inkSoft;
      context.fillText(line, x, lineY);
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

/** Values on their way, on a plate beside the node. */
function drawNotes(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: readonly Seen[],
  palette: Palette,
  rows: number,
): void {
  if (scene.marks.notes.size === 0) return;
  const leaf = scene.marks.path.at(-1); // where rows are close, its note stands for all
  context.font = `650 12px ${palette.font}`;
  context.textAlign = "left";
  for (const { placed, x, y, radius } of seen) {
    const note = scene.marks.notes.get(placed.node.node);
    if (note === undefined || (rows < NOTED_FROM_ROWS && placed.node.node !== leaf)) continue;
    const width = context.measureText(note).width + 10;
    context.fillStyle = palette.path;
    context.beginPath();
    context.roundRect(x + radius + 5, y - 10, width, 20, 6);
    context.fill();
    context.fillStyle = palette.onPath;
    context.fillText(note, x + radius + 10, y + 0.5);
  }
}
