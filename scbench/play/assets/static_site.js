// A site without a server: visitors answer items, and download a file of predictions.

import { byId, element } from "./page.js";

const STORE = "scbench-play-answers";

/** Show the items of the site one by one. */
export async function openStaticSite({ openItem, currentAnswer, showKept }) {
  const site = await (await fetch("site.json")).json();
  const answers = JSON.parse(localStorage.getItem(STORE) ?? "{}");
  let number = 0;
  let item = null;

  for (const id of ["choice", "check", "reply-part", "stop"]) byId(id).hidden = true;
  const place = element("span");
  const save = element("button", { class: "main", onclick: keep }, "Keep answer and continue");
  const back = element("button", { onclick: () => show(number - 1) }, "←");
  const forward = element("button", { onclick: () => show(number + 1) }, "→");
  const download = element("button", { onclick: write }, "Download answers");
  byId("session").replaceChildren(back, " ", place, " ", forward, " ", save, " ", download);
  byId("session").hidden = false;
  byId("about-release").textContent =
    `scbench, release ${site.release}. Nothing is graded on this page: download your answers and run scbench-grade on the file.`;
  await show(0);

  async function show(to) {
    number = (to + site.items) % site.items;
    item = await (await fetch(`items/${number}.json`)).json();
    await openItem(item);
    const kept = answers[item.id];
    if (kept) showKept(kept.answer);
    place.textContent = `Item ${number + 1} of ${site.items}${kept ? ", answered" : ""}`;
  }

  async function keep() {
    const answer = currentAnswer();
    if (answer === null) delete answers[item.id];
    else answers[item.id] = { instance_hash: item.instance_hash, answer };
    localStorage.setItem(STORE, JSON.stringify(answers));
    await show(number + 1);
  }

  function write() {
    const lines = Object.entries(answers).map(([id, kept]) =>
      JSON.stringify({ id, model: "visitor", setting: "human", ...kept }));
    const blob = new Blob([`${lines.join("\n")}\n`], { type: "application/jsonl" });
    const link = element("a", { href: URL.createObjectURL(blob), download: "answers.jsonl" });
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
