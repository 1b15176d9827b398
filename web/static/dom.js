/** Elements. All text comes in as text nodes: nothing that a device or a person wrote is ever read as HTML. */

/** Makes an element; `on*` options listen, `class` and the others are attributes, false and null ones are left out. */
export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

/**
 * A button that is disabled, and says what it does, while its work runs. `ask`: a question that comes first; `no`: what its
 * other answer is called.
 */
export function button(text, work, { kind = "", busy = `${text} …`, label, ask, no } = {}) {
  const made = element("button", { type: "button", class: kind, "aria-label": label }, text);
  made.addEventListener("click", async () => {
    clearNotice();
    if (!ask || (await confirmed(ask, text, no))) await whileBusy(made, busy, work);
  });
  return made;
}

/** Runs work with a button disabled; a problem is shown by the page. */
async function whileBusy(pressed, text, work) {
  const before = pressed.textContent;
  pressed.disabled = true;
  pressed.textContent = text;
  try {
    await work();
  } catch (error) {
    showProblem(error);
  } finally {
    pressed.disabled = false;
    pressed.textContent = before;
  }
}

/** A form that runs work when it is sent. Fields first, its button last. */
export function form(submit, busy, work, ...fields) {
  const send = (event) => {
    event.preventDefault();
    void whileBusy(submit, busy, work);
  };
  return element("form", { onsubmit: send }, ...fields, element("p", {}, submit));
}

let fields = 0;

/** A labelled input with an optional line of help. */
export function field(name, input, { help, required } = {}) {
  const id = `field-${++fields}`;
  const helpId = `${id}-help`;
  input.id = id;
  if (help) input.setAttribute("aria-describedby", helpId);
  const label = element(
    "label",
    { for: id },
    name,
    required ? element("span", { class: "soft" }, " (needed)") : "",
  );
  const note = help && element("p", { class: "soft", id: helpId }, help);
  if (input.type === "checkbox")
    return element("div", { class: "field check" }, input, element("div", {}, label, note));
  return element("div", { class: "field" }, label, input, note);
}

/** Asks before something that cannot be undone. Resolves to true for yes. */
export function confirmed(question, yes, no = "Keep it") {
  return new Promise((resolve) => {
    const dialog = element(
      "dialog",
      { "aria-label": question },
      element("p", {}, question),
      element(
        "div",
        { class: "row" },
        element("button", { type: "button", class: "danger", onclick: () => dialog.close("yes") }, yes),
        element("button", { type: "button", autofocus: true, onclick: () => dialog.close("no") }, no),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const notice = () => document.getElementById("notice");

export function showProblem(error) {
  const hint = error.hint && element("p", { class: "soft" }, error.hint);
  showNotice(
    "problem",
    element("div", { class: "grow" }, element("p", {}, error.message || String(error)), hint),
  );
}

export function showDone(text) {
  showNotice("done", element("p", { class: "grow" }, text));
}

/** It stays in sight while the page scrolls, so it can be put away. */
function showNotice(kind, content) {
  const close = element("button", { type: "button", onclick: clearNotice }, "Close");
  notice().replaceChildren(element("div", { class: `card row ${kind}` }, content, close));
}

export function clearNotice() {
  notice().replaceChildren();
}

/** A time as people say it. */
export function ago(iso) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
  if (seconds < 5) return "now";
  const units = [
    ["day", 86400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ];
  const [unit, size] = units.find(([, length]) => seconds >= length);
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}

export function date(iso) {
  return new Date(iso).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
