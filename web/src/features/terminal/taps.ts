/** Taps on a terminal: it scrolls under a finger, and so takes no click from one. */

/** A finger that moves further scrolls, in pixels. */
const STILL_WITHIN = 10;
/** One that stays longer wants something else, in milliseconds. */
const TAP_WITHIN = 500;

/** Calls back after a finger touched the element, and was lifted there. */
export function onTap(element: HTMLElement, tapped: () => void): void {
  let down: PointerEvent | undefined;
  element.addEventListener("pointerdown", (event) => {
    down = event.pointerType === "touch" ? event : undefined;
  });
  element.addEventListener("pointerup", (event) => {
    if (down?.pointerId !== event.pointerId) return;
    const moved = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
    if (moved < STILL_WITHIN && event.timeStamp - down.timeStamp < TAP_WITHIN) tapped();
    down = undefined;
  });
}
