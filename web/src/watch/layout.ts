/** A tidy tree layout: the root on top, siblings in move order. */

import { stratify, tree } from "d3-hierarchy";

import type { TreeNode } from "../api/schema";

export const COLUMN = 20; // between siblings
export const ROW = 56; // between a node and its children

export interface Placed {
  node: TreeNode;
  x: number;
  y: number;
  parent: Placed | null;
  children: Placed[];
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Layout {
  placed: Placed[]; // parents before their children
  byId: ReadonlyMap<number, Placed>;
  box: Box;
  principal: Placed[]; // follows the most visited child from the root
  mostVisits: number;
}

const arrange = tree<TreeNode>()
  .nodeSize([COLUMN, ROW])
  .separation((a, b) => (a.parent === b.parent ? 1 : 1.25));

export function layOut(nodes: readonly TreeNode[]): Layout {
  const placed: Placed[] = [];
  const byId = new Map<number, Placed>();
  const box: Box = { left: 0, top: 0, right: 0, bottom: 0 };
  if (nodes.length === 0) return { placed, byId, box, principal: [], mostVisits: 1 };
  const root = stratify<TreeNode>()
    .id((node) => String(node.node))
    .parentId((node) => (node.parent < 0 ? null : String(node.parent)))([...nodes])
    .sort((a, b) => (a.data.move?.action ?? 0) - (b.data.move?.action ?? 0));
  arrange(root).each((point) => {
    const parent = point.parent ? (byId.get(point.parent.data.node) ?? null) : null;
    const one: Placed = { node: point.data, x: point.x, y: point.y, parent, children: [] };
    parent?.children.push(one);
    placed.push(one);
    byId.set(point.data.node, one);
    box.left = Math.min(box.left, point.x);
    box.right = Math.max(box.right, point.x);
    box.bottom = Math.max(box.bottom, point.y);
  });
  const mostVisits = Math.max(1, ...placed.slice(0, 1).map((one) => one.node.visits));
  return { placed, byId, box, principal: findPrincipal(placed[0]), mostVisits };
}

/** The box around some nodes. */
export function boxAround(placed: readonly Placed[]): Box {
  return {
    left: Math.min(...placed.map((one) => one.x)),
    right: Math.max(...placed.map((one) => one.x)),
    top: Math.min(...placed.map((one) => one.y)),
    bottom: Math.max(...placed.map((one) => one.y)),
  };
}

function findPrincipal(root: Placed | undefined): Placed[] {
  const line: Placed[] = [];
  let at = root;
  while (at) {
    line.push(at);
    let best: Placed | undefined;
    for (const child of at.children) {
      if (!best || isBefore(child.node, best.node)) best = child;
    }
    at = best;
  }
  return line;
}

/** Most visits first; ties by the value for the player who moved. */
function isBefore(node: TreeNode, other: TreeNode): boolean {
  if (node.visits !== other.visits) return node.visits > other.visits;
  return (node.q ?? -2) > (other.q ?? -2);
}
