/* Shows notifications of turns, and ends them. It keeps nothing, and never comes between the browser and the site. */
"use strict";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(receive(event.data.json())));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow((event.notification.data || {}).url || "/my/channels"));
});

async function receive(message) {
  if (message.withdrawn) {
    await withdraw(message);
    return;
  }
  const { title, text, url, tag, id, code } = message;
  await self.registration.showNotification(title, { body: text, tag, renotify: true, icon: "/favicon.ico", data: { url, id, code } });
  if (code) {
    const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    pages.forEach((page) => page.postMessage("code"));
  }
}

/* Browsers want something to be shown for every message, so the end is shown, and ended at once. */
async function withdraw({ withdrawn, title }) {
  await self.registration.showNotification(title, { tag: "over", silent: true, icon: "/favicon.ico", data: { id: withdrawn } });
  const shown = await self.registration.getNotifications();
  shown.filter((each) => each.data && each.data.id === withdrawn).forEach((each) => each.close());
}
