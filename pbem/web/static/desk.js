"use strict";
// Fetches the page that is shown anew every so often, and puts its live part in the place of the old one. Nobody who types
// or has something open in there is disturbed, and a page that nobody looks at asks for nothing.
(() => {
  const fresh = async () => {
    const old = document.querySelector("[data-live]");
    if (!old || document.hidden || old.contains(document.activeElement) || old.querySelector("details[open]")) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const part = page.querySelector("[data-live]");
      if (part && old.isConnected) old.replaceWith(document.adoptNode(part));
    } catch {
      // The server or the way to it is away just now; what is shown stays, with its moment.
    }
  };
  const every = Number(document.querySelector("[data-live]")?.dataset.live) || 20;
  setInterval(fresh, every * 1000);
})();
