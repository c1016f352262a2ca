/** Maps the layout to the screen, with separate horizontal and vertical scales so that flat and deep trees fit. */

import type { Box } from "./layout";

export interface Camera {
  zoom: number; // across
  down: number;
  x: number; // of the layout's origin, on the screen
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export const LEAST_ZOOM = 0.01;
export const MOST_ZOOM = 8;
const LEAST_DOWN = 0.02;
const MOST_DOWN = 2.2;
const MARGIN = 36; // pixels around the visible part
const TEXT = 28; // below the last row
const MOST_FITTED = 2.6; // the largest zoom for small trees

/** Zooms by a factor around the screen point (x, y). */
export function zoomAt(camera: Camera, factor: number, x: number, y: number): Camera {
  const zoom = clamp(camera.zoom * factor, LEAST_ZOOM, MOST_ZOOM);
  const down = clamp(camera.down * Math.sqrt(factor), LEAST_DOWN, MOST_DOWN); // rows spread more slowly
  return {
    zoom,
    down,
    x: x - (x - camera.x) * (zoom / camera.zoom),
    y: y - (y - camera.y) * (down / camera.down),
  };
}

export function pan(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x + dx, y: camera.y + dy };
}

/** Fits a whole box, aligned at the top. */
export function fit(box: Box, size: Size, mostZoom = MOST_FITTED): Camera {
  const width = Math.max(1, size.width - 2 * MARGIN);
  const height = Math.max(1, size.height - 2 * MARGIN - TEXT);
  const zoom = clamp(width / Math.max(1, box.right - box.left), LEAST_ZOOM, mostZoom);
  const down = clamp(height / Math.max(1, box.bottom - box.top), LEAST_DOWN, MOST_DOWN);
  const middle = (box.left + box.right) / 2;
  return { zoom, down, x: size.width / 2 - middle * zoom, y: MARGIN - box.top * down };
}

/** Interpolates between two cameras; `share` goes from 0 to 1. */
export function between(from: Camera, to: Camera, share: number): Camera {
  const mix = (a: number, b: number) => a + (b - a) * share;
  return {
    zoom: mix(from.zoom, to.zoom),
    down: mix(from.down, to.down),
    x: mix(from.x, to.x),
    y: mix(from.y, to.y),
  };
}

/** Moves a camera just far enough that a point of the layout is well inside the screen. */
export function keepInSight(camera: Camera, x: number, y: number, size: Size): Camera {
  const [left, top] = [x * camera.zoom + camera.x, y * camera.down + camera.y];
  const dx = clamp(left, MARGIN, size.width - MARGIN) - left;
  const dy = clamp(top, MARGIN, size.height - 2 * MARGIN) - top;
  return dx === 0 && dy === 0 ? camera : pan(camera, dx, dy);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
