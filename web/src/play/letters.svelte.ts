/** Whether keys with letters and signs do something: speech and shaking hands press them unmeant. */

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
      // No storage here: it lasts as long as the page.
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
