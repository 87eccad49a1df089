// A measurement: one answer to each item, no feedback, time without pauses.

import { byId, element, request } from "./page.js";

/** Run a session until its items or its time are used up. */
export async function startSession({ openItem, currentAnswer }) {
  let item = null;
  let secondsLeft = 0;
  // Seconds on this item before the last pause, and the moment at which the clock went on.
  let spent = 0;
  let since = null;

  const clock = element("span");
  const pause = element("button", { onclick: togglePause }, "Pause");
  const submit = element("button", { class: "main", onclick: () => send(currentAnswer()) }, "Submit and go on");
  const skip = element("button", { onclick: () => send(null) }, "Skip");
  byId("session").replaceChildren(clock, " ", pause, " ", submit, " ", skip);
  byId("session").hidden = false;
  setInterval(showClock, 1000);
  await next();

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
    try {
      await request("api/study", { method: "POST", body });
      await next();
    } catch (error) {
      byId("progress").textContent = error.message;
      since = performance.now();
      spent = body.seconds;
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
    spent = 0;
    since = performance.now();
    showClock();
  }
}
