/* Shows under each deadline how much time is left, as hours, minutes and seconds; the page itself says the moment. */
"use strict";

const shownFrom = 48 * 60 * 60;

const clocks = [...document.querySelectorAll("time.counts")].map((moment) => {
  const clock = document.createElement("span");
  clock.className = "clock";
  // A reader that reads changes aloud would speak every second; the moment has been read already.
  clock.setAttribute("aria-hidden", "true");
  moment.closest("p").append(clock);
  return { clock, until: new Date(moment.dateTime) };
});

function count() {
  for (const { clock, until } of clocks) {
    const left = Math.floor((until - Date.now()) / 1000);
    const parts = [left / 3600, (left / 60) % 60, left % 60].map((part) => String(Math.floor(part)).padStart(2, "0"));
    clock.textContent = left >= 0 && left < shownFrom ? parts.join(":") : "";
  }
}

count();
setInterval(count, 1000);
