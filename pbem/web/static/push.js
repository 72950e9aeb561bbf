/* Switches on notifications in this browser: asks for them, and enters what its push service gave. */
"use strict";

const form = document.querySelector("form.push");
const codes = document.querySelectorAll("form.code-of-browser");
let entered = false;

if (form && "serviceWorker" in navigator && "PushManager" in window) {
  form.hidden = false;
  document.querySelector(".push-missing").hidden = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    switchOn().catch(() => say("failed"));
  });
}

/* The code comes through the browser itself, while this page is shown or before. */
if (codes.length && "serviceWorker" in navigator) {
  navigator.serviceWorker.addEventListener("message", enterCode);
  enterCode();
}

async function switchOn() {
  say("");
  if (await Notification.requestPermission() !== "granted") {
    say("refused");
    return;
  }
  const worker = await registered();
  const old = await worker.pushManager.getSubscription();
  if (old && keyOf(old) !== form.dataset.key) {
    await old.unsubscribe();
  }
  const { endpoint, keys } = (await worker.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: form.dataset.key,
  })).toJSON();
  form.address.value = endpoint;
  form.token.value = `${keys.p256dh}.${keys.auth}`;
  form.submit();
}

async function registered() {
  await navigator.serviceWorker.register("/service-worker.js");
  return navigator.serviceWorker.ready;
}

function keyOf(subscription) {
  const bytes = new Uint8Array(subscription.options.applicationServerKey);
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function enterCode() {
  const worker = await navigator.serviceWorker.getRegistration("/");
  const shown = worker ? await worker.getNotifications() : [];
  const carrying = shown.filter((each) => each.data && each.data.code);
  if (carrying.length && !entered) {
    entered = true;
    const entry = codes[codes.length - 1];
    entry.code.value = carrying[carrying.length - 1].data.code;
    carrying.forEach((each) => each.close());
    entry.submit();
  }
}

function say(what) {
  const line = form.querySelector("[role=alert]");
  line.textContent = what && line.dataset[what];
}
