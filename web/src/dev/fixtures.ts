/** Boards of several games, as the server would send them. */

import type { Board, Move, Place } from "../api/schema";
import { plainBoard } from "../board/plain";

export interface Example {
  title: string;
  board: Board;
  pieces: string[];
  toPlay: number;
  legal: Move[];
}

export const examples: readonly Example[] = [
  example("Connect Four", {
    rows: [".......", ".......", "...o...", "..xx...", "..oxo..", ".xoxxo."],
    actionOf: (_, col) => col,
    changed: [{ row: 2, col: 3 }],
  }),
  example("Tic-tac-toe, won", {
    rows: ["xo.", "oxo", "x.x"],
    marks: [
      { row: 0, col: 0 },
      { row: 1, col: 1 },
      { row: 2, col: 2 },
    ],
    changed: [{ row: 2, col: 2 }],
  }),
  example("Dots and boxes", {
    rows: ["+-+-+-+", "|x|o| |", "+-+-+ +", "| |    ", "+ +-+ +", "|     |", "+-+ + +"],
    changed: [{ row: 4, col: 3 }],
  }),
  numbers("2048", [
    ["2", ".", "4", "2"],
    ["8", "16", "32", "4"],
    ["64", "128", "256", "2"],
    ["512", "1024", "2048", "8192"],
  ]),
  example("Trio, three players", {
    rows: [".....", ".xo..", ".zx..", "..oz.", "....x"],
    pieces: ["x", "o", "z"],
    toPlay: 1,
    changed: [{ row: 4, col: 4 }],
  }),
  example("Hex", {
    rows: [".......", "..xo...", "..ox...", "..xo...", ".......", ".......", "......."],
    layout: "hex",
    changed: [{ row: 3, col: 3 }],
  }),
  example("Go, 19 lines", { rows: goRows(), layout: "points", changed: [{ row: 9, col: 10 }] }),
];

interface Sketch {
  rows: string[];
  layout?: Board["layout"];
  pieces?: string[];
  toPlay?: number;
  actionOf?: (row: number, col: number) => number;
  marks?: Place[];
  changed?: Place[];
}

function example(title: string, sketch: Sketch): Example {
  const cells = sketch.rows.map((row) => [...row]);
  const columns = cells[0]?.length ?? 0;
  const isFree = (row: number, col: number) => ". ".includes(cells[row]?.[col] ?? "");
  const isBox = (row: number, col: number) => sketch.rows[0]?.[0] === "+" && row % 2 === 1 && col % 2 === 1;
  const actions = cells.map((texts, row) =>
    texts.map((_, col) => {
      if (sketch.actionOf) return sketch.actionOf(row, col);
      return isFree(row, col) && !isBox(row, col) ? row * columns + col : -1;
    }),
  );
  const toPlay = sketch.toPlay ?? 0;
  const known = [...new Set(actions.flat().filter((action) => action >= 0))];
  return {
    title,
    board: {
      ...plainBoard(cells, actions, sketch.layout),
      marks: sketch.marks ?? [],
      changed: sketch.changed ?? [],
    },
    pieces: sketch.pieces ?? ["x", "o"],
    toPlay,
    legal: known.map((action) => ({ action, name: String(action + 1), player: toPlay })),
  };
}

function numbers(title: string, cells: string[][]): Example {
  const actions = cells.map((row) => row.map(() => -1));
  const changed = [{ row: 0, col: 3 }];
  return {
    title,
    board: { ...plainBoard(cells, actions), changed },
    pieces: [],
    toPlay: 0,
    legal: ["up", "right", "down", "left"].map((name, action) => ({ action, name, player: 0 })),
  };
}

/** Random stones on a Go board, the same each time. */
function goRows(): string[] {
  return Array.from({ length: 19 }, (_, row) =>
    Array.from({ length: 19 }, (_, col) => {
      const draw = (row * 37 + col * 61 + row * col * 13) % 11;
      return row === 9 && col === 10 ? "x" : draw === 3 ? "x" : draw === 7 ? "o" : ".";
    }).join(""),
  );
}
