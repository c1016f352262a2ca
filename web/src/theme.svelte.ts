/** The theme: the system's preference, unless one was chosen here. */

export type Theme = "light" | "dark";

const KEY = "plainzero.theme";

class ThemeChoice {
  #system = $state<Theme>("light");
  #chosen = $state<Theme | null>(null);

  constructor() {
    const query = window.matchMedia("(prefers-color-scheme: dark)");
    this.#system = query.matches ? "dark" : "light";
    query.addEventListener("change", (event) => {
      this.#system = event.matches ? "dark" : "light";
    });
    const stored = readStored();
    if (stored === "light" || stored === "dark") this.#chosen = stored;
  }

  /** The current theme. */
  get current(): Theme {
    return this.#chosen ?? this.#system;
  }

  toggle(): void {
    this.#chosen = this.current === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.#chosen);
    } catch {
      // Storage may be forbidden; the choice then lasts until the page is closed.
    }
    this.apply();
  }

  /** Writes the choice to <html>; without one the style sheet follows the system. */
  apply(): void {
    if (this.#chosen) document.documentElement.dataset["theme"] = this.#chosen;
  }
}

function readStored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const theme = new ThemeChoice();
