// The page of `scbench play`: it chooses an item, keeps the answer and its history, and has the
// answer checked. The answer as JSON is the only state: editors draw it and propose the next one.

import { History } from "./history.js";
import { byId, element, request, showPicture, showVerdict } from "./page.js";
import { startSession } from "./session.js";
import { openStaticSite } from "./static_site.js";
import { textEditor } from "./text.js";

// Milliseconds between requests for the progress of a verdict; the server waits half a second as well.
const PAUSE = 100;
// Name of the set of items that are not on the ladder.
const RELEASE = "release";

let item = null;
let editor = null;
let runningCheck = null;
// Counts of requests: results of outdated requests are not shown.
let latestItem = 0;
let latestCheck = 0;
// The answer whose verdict is shown; undefined if none is.
let checkedAnswer;
const answers = new History(showAnswer);

/** Load the page: a static site, a measurement, or free play. */
async function start() {
  setUpButtons();
  let opening;
  try {
    opening = await request("api/start");
  } catch {
    await openStaticSite({
      openItem,
      currentAnswer: () => answers.answer,
      showKept: (answer) => answers.reset(answer, { keepFirst: true }),
    });
    return;
  }
  byId("about-release").textContent = `scbench, release ${opening.release}. Items, graders and pictures are those of the benchmark.`;
  if (opening.measures) {
    for (const id of ["choice", "check", "reply-part"]) byId(id).hidden = true;
    await startSession({ openItem, currentAnswer: () => answers.answer });
    return;
  }
  const tasks = opening.tasks.map((task) => element("option", { value: task.id }, task.title));
  byId("task").replaceChildren(...tasks);
  // A link can name another item: ?item=two_segments/07
  const linked = new URLSearchParams(location.search).get("item");
  await showItem(linked ?? opening.item);
  if (opening.reply && !linked) {
    byId("reply").value = opening.reply;
    byId("reply-part").open = true;
    await check({ id: item.id, reply: opening.reply });
  }
}

/** Connect the buttons and keys of the page. */
function setUpButtons() {
  byId("undo").addEventListener("click", () => answers.undo());
  byId("redo").addEventListener("click", () => answers.redo());
  byId("clear").addEventListener("click", () => answers.change(null));
  byId("check").addEventListener("click", () => check({ id: item.id, answer: answers.answer }));
  byId("stop").addEventListener("click", stopCheck);
  byId("check-reply").addEventListener("click", () => check({ id: item.id, reply: byId("reply").value }));
  byId("json").addEventListener("input", readJson);
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("fresh").addEventListener("click", drawFresh);
  byId("task").addEventListener("change", () => showSet(byId("task").value, "1"));
  byId("set").addEventListener("change", () => showSet(byId("task").value, byId("set").value));
  byId("item").addEventListener("change", () => showItem(byId("item").value));
  document.addEventListener("keydown", (event) => {
    const inText = event.target.matches("textarea, input");
    if (inText || !(event.ctrlKey || event.metaKey)) return;
    if (event.key === "z") answers.undo();
    else if (event.key === "y") answers.redo();
    else return;
    event.preventDefault();
  });
}

/** Fetch an item and open it. */
async function showItem(id) {
  await loading(async (isLatest) => {
    const fetched = await request(`api/item?id=${encodeURIComponent(id)}`);
    if (!isLatest()) return;
    await openItem(fetched);
    await listItems(fetched);
  });
}

/** Show an item and an editor for it, without an answer. */
async function openItem(fetched) {
  stopCheck();
  item = fetched;
  checkedAnswer = undefined;
  byId("title").textContent = item.title;
  byId("summary").textContent = item.summary;
  byId("scored").textContent = item.scored ? `Score: ${item.scored}` : "";
  byId("prompt").textContent = item.prompt;
  // Prompts of text tasks are short and contain all the data.
  byId("prompt").closest("details").open = item.bucket === "manifolds";
  byId("result").replaceChildren();
  byId("checks").replaceChildren();
  byId("progress").textContent = "";
  showPicture(item.picture);
  // In a measurement, an editor draws the item itself.
  byId("picture-title").closest("section").hidden = item.picture.views.length === 0;
  editor = await makeEditor();
  byId("hint").textContent = editor ? editor.hint : "Write the answer as JSON; Check draws it.";
  byId("rules").textContent = editor?.rules ?? "";
  byId("editor").replaceChildren(...(editor ? [editor.element] : []));
  byId("json-part").open = !editor;
  answers.reset(editor ? editor.start : null);
  showLoading(false);
}

/** Return the editor of the item's task; null if it has none. */
async function makeEditor() {
  const context = {
    params: JSON.parse(item.params),
    schema: JSON.parse(item.schema),
    prompt: item.prompt,
    change: (answer) => answers.change(answer),
    say: (text) => { byId("live").textContent = text; },
  };
  if (item.bucket === "manifolds") return textEditor(context);
  try {
    const module = await import(`./editors/${item.task}.js`);
    return module.default(context);
  } catch (error) {
    // A task without an editor has no such file; any other failure is an error to show.
    if (!(error instanceof TypeError)) console.error(error);
    return null;
  }
}

/** Show an answer in the editor and as JSON. */
function showAnswer(answer, { fromJson = false } = {}) {
  byId("undo").disabled = !answers.canUndo;
  byId("redo").disabled = !answers.canRedo;
  byId("check").disabled = answer === null;
  if (!fromJson) {
    byId("json").value = answer === null ? "" : JSON.stringify(answer);
    byId("json-problem").textContent = "";
  }
  markStale();
  if (!editor) return;
  byId("editor").inert = false;
  try {
    editor.show(answer);
  } catch {
    // An answer that does not have the task's form cannot be drawn; checking it shows its errors.
    byId("editor").inert = true;
    byId("json-part").open = true;
    byId("json-problem").textContent =
      "This answer does not have the form that the prompt asks for. Correct it here, or click Undo.";
  }
}

/** Say next to the verdict whether it is about another answer than the one that is shown. */
function markStale() {
  const isStale = checkedAnswer !== undefined && checkedAnswer !== answers.answer;
  byId("result").classList.toggle("stale", isStale);
}

/** Take the text in the JSON box as the answer. */
function readJson() {
  const text = byId("json").value.trim();
  let answer;
  try {
    answer = text ? JSON.parse(text) : null;
  } catch (error) {
    byId("json-problem").textContent = `Not JSON yet: ${error.message}`;
    // Check would grade the last answer that could be read.
    byId("check").disabled = true;
    return;
  }
  byId("json-problem").textContent = "";
  answers.change(answer, { fromJson: true });
}

/** Have an answer or a reply judged, and show the verdict. */
async function check(body) {
  stopCheck();
  const turn = latestCheck;
  const isLatest = () => turn === latestCheck;
  byId("progress").textContent = "Checking ...";
  try {
    const { check: number } = await request("api/checks", { method: "POST", body });
    if (!isLatest()) {
      cancel(number);
      return;
    }
    runningCheck = number;
    byId("stop").hidden = !item.heavy;
    let state = await request(`api/checks/${number}`);
    while (!state.done && isLatest()) {
      byId("progress").textContent = `Checking: ${state.seconds} s (limit ${item.seconds} s)`;
      byId("stop").hidden = false;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (isLatest()) state = await request(`api/checks/${number}`);
    }
    if (!isLatest()) return;
    byId("progress").textContent = "";
    showVerdict(state.result);
    checkedAnswer = "reply" in body ? state.result.answer : body.answer;
    if ("reply" in body && state.result.answer !== null) answers.change(state.result.answer);
    markStale();
    const picture = await request(`api/checks/${number}/picture`);
    if (isLatest()) showPicture(picture);
  } catch (error) {
    if (isLatest()) byId("progress").textContent = error.message;
  }
  if (!isLatest()) return;
  runningCheck = null;
  byId("stop").hidden = true;
}

/** Stop judging, if an answer is being judged. */
function stopCheck() {
  latestCheck += 1;
  if (runningCheck === null) return;
  cancel(runningCheck);
  runningCheck = null;
  byId("stop").hidden = true;
  byId("progress").textContent = "Stopped.";
}

/** Have the server stop a check. */
function cancel(number) {
  request(`api/checks/${number}`, { method: "DELETE" }).catch(() => {});
}

/** Fill the lists of sets and items around an item. */
async function listItems(shown) {
  const lists = await request(`api/tasks/${shown.task}`);
  const rungs = Object.keys(lists.rungs);
  const sets = [element("option", { value: RELEASE }, "Release items")];
  for (const rung of rungs) sets.push(element("option", { value: rung }, `Ladder rung ${rung}`));
  const current = shown.rung === null ? RELEASE : String(shown.rung);
  const ids = current === RELEASE ? lists.release : lists.rungs[current] ?? [];
  const options = ids.map((id) => element("option", { value: id }, id.split("/")[1]));
  if (!ids.includes(shown.id)) options.push(element("option", { value: shown.id }, "new item"));
  byId("task").value = shown.task;
  byId("set").replaceChildren(...sets);
  byId("set").value = current;
  byId("item").replaceChildren(...options);
  byId("item").value = shown.id;
}

/** Show the first item of a set; of a task without that rung, its first item. */
async function showSet(task, set) {
  await loading(async (isLatest) => {
    const lists = await request(`api/tasks/${task}`);
    const ids = set === RELEASE ? lists.release : lists.rungs[set] ?? lists.release;
    if (isLatest()) await showItem(ids[0]);
  });
}

/** Show the next or previous item of the set. */
async function step(by) {
  const options = [...byId("item").options];
  const place = options.findIndex((option) => option.value === item.id);
  const target = options[(place + by + options.length) % options.length];
  await showItem(target.value);
}

/** Draw an item that no release contains, of the rung that is shown. */
async function drawFresh() {
  await loading(async (isLatest) => {
    const body = { task: item.task, rung: item.rung };
    const fetched = await request("api/fresh", { method: "POST", body });
    if (!isLatest()) return;
    await openItem(fetched);
    await listItems(fetched);
  });
}

/** Load an item; show the sentence of an error instead of failing silently. */
async function loading(action) {
  latestItem += 1;
  const turn = latestItem;
  const isLatest = () => turn === latestItem;
  showLoading(true);
  try {
    await action(isLatest);
  } catch (error) {
    if (isLatest()) byId("progress").textContent = error.message;
  }
  if (isLatest()) showLoading(false);
}

/** Show whether an item is being loaded. */
function showLoading(isLoading) {
  document.querySelector("main").setAttribute("aria-busy", isLoading);
  byId("loading").hidden = !isLoading;
}

start();
