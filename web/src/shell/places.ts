/** The views of the page, in the order of the navigation. */

import type { IconName } from "../ui/icons";

export interface Place {
  name: string;
  title: string;
  icon: IconName;
}

export const places: readonly Place[] = [
  { name: "play", title: "Play", icon: "board" },
  { name: "watch", title: "Watch", icon: "tree" },
  { name: "formula", title: "Formula", icon: "formula" },
  { name: "ladder", title: "Ladder", icon: "ladder" },
  { name: "training", title: "Training", icon: "training" },
  { name: "learn", title: "Learn", icon: "learn" },
];

export function titleOf(name: string): string {
  return places.find((place) => place.name === name)?.title ?? "Page";
}
