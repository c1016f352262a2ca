/** The content of a cell, parsed from its text. */

export type Content =
  | { kind: "empty" }
  | { kind: "stone"; player: number } // counted from 1
  | { kind: "number"; value: number }
  | { kind: "dot" }
  | { kind: "line"; across: boolean }
  | { kind: "text"; text: string };

/** The pieces if a view names none. */
const USUAL_PIECES = ["x", "o", "z"];
const BLANK = new Set([".", " ", ""]);
export const MOST_COLOURS = 4;

export function isBlank(text: string): boolean {
  return BLANK.has(text);
}

/** `pieces` holds the text of each player's piece, in the players' order. */
export function contentOf(text: string, pieces: readonly string[]): Content {
  if (isBlank(text)) return { kind: "empty" };
  const player = (pieces.length > 0 ? pieces : USUAL_PIECES).indexOf(text);
  if (player >= 0) return { kind: "stone", player: player + 1 };
  if (/^\d+$/.test(text)) return { kind: "number", value: Number(text) };
  if (text === "+") return { kind: "dot" };
  if (text === "-" || text === "|") return { kind: "line", across: text === "-" };
  return { kind: "text", text };
}

/** The content in words, for labels. */
export function wordsFor(content: Content, text: string): string {
  switch (content.kind) {
    case "empty":
      return "empty";
    case "stone":
      return `${text}, player ${content.player}`;
    case "number":
      return String(content.value);
    case "dot":
      return "dot";
    case "line":
      return "line";
    case "text":
      return content.text;
  }
}

/** Which of the four colours a player has. */
export function colourOf(player: number): number {
  return ((player - 1) % MOST_COLOURS) + 1;
}

/**
 * How deep a number's tint is, from 0 to 1, by its doublings: 2048 and above are the deepest. The
 * middle is left out, because no ink would be readable on it.
 */
export function depthOf(value: number): number {
  const doublings = value <= 1 ? 0 : Math.min(1, Math.log2(value) / 11);
  return doublings < 0.5 ? doublings * 0.7 : 0.74 + (doublings - 0.5) * 0.52;
}
