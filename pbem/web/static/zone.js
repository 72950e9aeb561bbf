/* Offers the browser's time zone to someone who hasn't chosen one. */
"use strict";

const offer = document.querySelector("form.zone");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && zone !== offer.dataset.zone) {
  const button = offer.querySelector("button.browser");
  button.value = zone;
  button.querySelector("bdi").textContent = zone;
  offer.hidden = false;
}
