/** Colours computed from numbers, all based on the tokens in app.css. */

/** A value from −1 (lost) to +1 (won) as a CSS colour. */
export function valueColour(value: number): string {
  const strength = Math.min(1, Math.abs(value)) * 100;
  const end = value < 0 ? "var(--value-loss)" : "var(--value-win)";
  return `color-mix(in oklab, ${end} ${strength.toFixed(1)}%, var(--value-even))`;
}

/** A player's colour for lines and text; players are counted from 0, chance is −1. */
export function playerColour(player: number): string {
  return player < 0 ? "var(--ink-soft)" : `var(--player-${(player % 4) + 1})`;
}

/** A CSS colour resolved in the current theme, for drawing on a canvas. */
export function resolveColour(colour: string, within: HTMLElement): string {
  const probe = document.createElement("span");
  probe.style.color = colour;
  within.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
