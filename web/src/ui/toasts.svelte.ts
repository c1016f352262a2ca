/** Short messages at the edge of the page: `toast("Copied.")`. */

export interface Toast {
  id: number;
  message: string;
  kind: "info" | "good" | "bad";
}

const SHOWN_MS = 5000;
let last = 0;

export const toasts = $state<Toast[]>([]);

export function toast(message: string, kind: Toast["kind"] = "info"): void {
  last += 1;
  const id = last;
  toasts.push({ id, message, kind });
  if (kind !== "bad") setTimeout(() => dismiss(id), SHOWN_MS); // errors stay until dismissed
}

export function dismiss(id: number): void {
  const index = toasts.findIndex((one) => one.id === id);
  if (index >= 0) toasts.splice(index, 1);
}
