/* Gives an amount a slider and buttons for less and more, and keeps an open table up to date. It asks for news while the page is seen, every few seconds at first and less often while
   nothing happens, and puts the new table in place of the old. What is being filled in stays: then a line offers the news. */
"use strict";

const soonest = 4000;
const latest = 60000;
const moving = ["notices", "play", "bar", "since"];

const room = document.querySelector("main.room");
const table = room && room.querySelector(".play[data-news]");
let mark = table && table.dataset.mark;
let wait = soonest;
let timer = 0;
let touched = false;

function slide() {
  for (const label of room.querySelectorAll(".bar label.number:not(.slides)")) {
    const field = label.querySelector("input");
    const slider = Object.assign(document.createElement("input"), { type: "range", min: field.min, max: field.dataset.most || field.max });
    slider.setAttribute("aria-label", label.textContent.trim());
    slider.value = field.value || field.min;
    slider.addEventListener("input", () => (field.value = slider.value));
    field.addEventListener("input", () => (slider.value = field.value));
    const step = (sign, words, by) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "step", textContent: sign });
      button.setAttribute("aria-label", words);
      button.addEventListener("click", () => {
        if (field.value) field[by]();
        else field.value = field.min;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      return button;
    };
    label.classList.add("slides");
    label.before(step("−", label.dataset.less, "stepDown"));
    label.after(step("+", label.dataset.more, "stepUp"), slider);
  }
}

function later() {
  clearTimeout(timer);
  if (document.visibilityState === "visible") timer = setTimeout(ask, wait);
}

async function ask() {
  try {
    const answer = await fetch(table.dataset.news, { cache: "no-store", headers: { "If-None-Match": mark } });
    if (answer.status === 204) {
      if (await show()) mark = answer.headers.get("ETag");
    } else if (answer.status === 304) {
      wait = Math.min(wait * 1.3, latest);
    } else if (answer.status < 500) {
      // The link has been replaced, or the seat is another's: the page says so when it is opened again.
      return;
    }
  } catch {
    wait = latest;
  }
  later();
}

/* Whether the new table is shown, or offered. A form that was refused is at another address than the table. */
async function show() {
  wait = soonest;
  const answer = await fetch(room.querySelector(".news a").href, { cache: "no-store" });
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.title = page.title;
  document.querySelector("link[rel=icon]").href = page.querySelector("link[rel=icon]").href;
  if (touched) {
    room.querySelector(".news").hidden = false;
    return true;
  }
  const told = new Set([...room.querySelectorAll(".story li")].map((each) => each.textContent));
  const unfolded = new Set([...room.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  const waits = room.querySelector(".notices > .next");
  if (waits) page.querySelector(".notices").append(waits);
  for (const name of moving) {
    const now = page.querySelector(`main.room .${name}`);
    const before = room.querySelector(`.${name}`);
    if (before && now) before.replaceWith(now);
    else if (before) before.remove();
    else if (now) room.querySelector(".play").after(now);
  }
  slide();
  for (const each of room.querySelectorAll("details > summary")) {
    each.parentElement.open = unfolded.has(each.textContent);
  }
  // One after the other, so that one can follow what several bots have done.
  const fresh = [...room.querySelectorAll(".story li")].filter((each) => !told.has(each.textContent));
  fresh.forEach((each, place) => {
    each.classList.add("fresh");
    each.style.setProperty("--place", Math.min(place, 12));
  });
  return true;
}

if (room) slide();
if (table) {
  room.addEventListener("input", () => (touched = true));
  document.addEventListener("visibilitychange", () => {
    wait = soonest;
    if (document.visibilityState === "visible") ask();
  });
  later();
}
