/** Whether letter and punctuation keys are on: speech input or tremor can press them by accident. */

const KEPT_AS = "plainzero-letter-keys";

class Letters {
  #areOn = $state(readKept());

  get areOn(): boolean {
    return this.#areOn;
  }

  set areOn(areOn: boolean) {
    this.#areOn = areOn;
    try {
      localStorage.setItem(KEPT_AS, areOn ? "on" : "off");
    } catch {
      // No storage: it lasts until the page is closed.
    }
  }
}

function readKept(): boolean {
  try {
    return localStorage.getItem(KEPT_AS) !== "off";
  } catch {
    return true;
  }
}

export const letters = new Letters();
