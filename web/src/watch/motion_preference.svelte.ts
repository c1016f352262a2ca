/** Whether the system prefers reduced motion. */

const query = window.matchMedia("(prefers-reduced-motion: reduce)");

class MotionPreference {
  isReduced = $state(query.matches);

  constructor() {
    query.addEventListener("change", (event) => (this.isReduced = event.matches));
  }
}

export const motionPreference = new MotionPreference();
