// The editor for all text tasks: a field for a word, a number or a list.

import { element } from "./page.js";

/** Return an editor for the key `answer`, whose type is in the schema. */
export function textEditor({ schema, change }) {
  const form = schema.properties.answer;
  const box = element("input", { type: "text", "aria-label": "Answer", size: 40 });
  box.addEventListener("input", () => {
    const text = box.value.trim();
    change(text ? { answer: read(text, form) } : null);
  });
  return {
    element: box,
    hint: hintFor(form),
    start: null,
    show(answer) {
      const text = answer === null ? "" : written(answer.answer);
      // Rewriting what somebody is typing would move the cursor.
      if (document.activeElement !== box) box.value = text;
    },
  };
}

function typesOf(form) {
  if (form.anyOf) return form.anyOf.flatMap(typesOf);
  return [form.type];
}

function hintFor(form) {
  if (typesOf(form).includes("array")) return "Type the entries, separated by commas.";
  return "Type the answer.";
}

function read(text, form) {
  const types = typesOf(form);
  if (types.includes("array")) return text.split(",").map((part) => read(part.trim(), form.items ?? {}));
  const isNumber = types.includes("integer") || types.includes("number");
  if (isNumber && text !== "" && Number.isFinite(Number(text))) return Number(text);
  return text;
}

function written(value) {
  return Array.isArray(value) ? value.join(", ") : String(value);
}
