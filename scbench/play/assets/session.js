// A measurement: one answer to each item, no feedback; pauses are not counted.

import { byId, element, request } from "./page.js";

// Where the browser keeps the seconds spent on the item, so that reloading does not reset them.
// The path contains the token of the server, so sessions do not mix.
const STORE = `scbench-play-spent ${location.pathname}`;

/** Run a session until its items or its time are used up. */
export async function startSession({ openItem, currentAnswer }) {
  let item = null;
  let secondsLeft = 0;
  // Seconds on this item before the last pause, and the time at which the clock was resumed.
  let spent = 0;
  let since = null;

  const clock = element("span");
  const pause = element("button", { onclick: togglePause }, "Pause");
  const submit = element("button", { class: "main", onclick: () => send(currentAnswer()) }, "Submit and continue");
  const skip = element("button", { onclick: () => send(null) }, "Skip");
  byId("session").replaceChildren(clock, " ", pause, " ", submit, " ", skip);
  byId("session").hidden = false;
  byId("about-release").textContent =
    "You answer every item once, and no scores are shown. Pauses hide the item and do not count.";
  enable(false);
  setInterval(showClock, 1000);
  try {
    await next();
  } catch (error) {
    byId("progress").textContent = error.message;
  }

  /** Let the buttons be used, or not. */
  function enable(isEnabled) {
    for (const button of [pause, submit, skip]) button.disabled = !isEnabled;
  }

  function seconds() {
    const running = since === null ? 0 : (performance.now() - since) / 1000;
    return spent + running;
  }

  function showClock() {
    if (!item) return;
    const left = Math.max(0, secondsLeft - seconds());
    const minutes = Math.floor(left / 60);
    const rest = String(Math.floor(left % 60)).padStart(2, "0");
    clock.textContent = `Item ${item.number + 1} of ${item.total}, ${minutes}:${rest} left`;
    if (since !== null) localStorage.setItem(STORE, JSON.stringify({ id: item.id, seconds: seconds() }));
    if (left === 0 && since !== null) send(currentAnswer());
  }

  function togglePause() {
    if (since === null) {
      since = performance.now();
    } else {
      spent = seconds();
      since = null;
    }
    const paused = since === null;
    pause.textContent = paused ? "Continue" : "Pause";
    // A pause that shows the item would be time to think.
    document.querySelector("main").hidden = paused;
    submit.disabled = paused;
    skip.disabled = paused;
  }

  async function send(answer) {
    const body = { id: item.id, answer, seconds: seconds() };
    since = null;
    // A second click would send this answer again.
    enable(false);
    try {
      await request("api/study", { method: "POST", body });
      await next();
    } catch (error) {
      byId("progress").textContent = error.message;
      since = performance.now();
      spent = body.seconds;
      enable(true);
    }
  }

  async function next() {
    const step = await request("api/study");
    if (!step.item) {
      item = null;
      for (const part of [pause, submit, skip]) part.remove();
      document.querySelector("main").hidden = true;
      clock.textContent = `Thank you. ${step.number} of ${step.total} items are recorded; you can close this page.`;
      return;
    }
    await openItem({ ...step.item, picture: step.picture });
    item = { id: step.item.id, number: step.number, total: step.total };
    secondsLeft = step.seconds_left;
    const stored = JSON.parse(localStorage.getItem(STORE) ?? "null");
    spent = stored?.id === item.id ? stored.seconds : 0;
    since = performance.now();
    enable(true);
    showClock();
  }
}
