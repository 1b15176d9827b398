/** The buttons under a question: a person's decision, on exactly what stands above them. */
import { clearNotice, element, field, showProblem } from "./dom.js";
import { editableJson } from "./hidden-text.js";

/** As many characters as the relay takes. */
const NOTE_MAX = 1000;

/** `decide` sends a decision, and rejects with what the relay said. `heading`: the id of what asks. */
export function decisionView(question, { asker, heading, guard, mayExcept, decide }) {
  const group = element("fieldset", { class: "decision", "aria-labelledby": heading });
  const press = (name, kind, decision, about) => {
    const made = element(
      "button",
      { type: "button", class: kind, "aria-describedby": about ?? heading },
      name,
    );
    made.addEventListener("click", (event) => {
      if (guard.admits(event)) void whileDeciding(group, made, async () => decide(decision()));
    });
    return made;
  };
  const allow = (reach) => () => ({ decision: "allow", for: reach });
  const always = `${heading}-always`;
  group.append(
    element(
      "div",
      { class: "row" },
      press("Allow once", "main", allow("once")),
      press("Deny", "danger", () => ({ decision: "deny" })),
      press("Allow the same call for an hour", "", allow("hour")),
      mayExcept && press("Always for this tool", "", allow("always"), always),
    ),
    mayExcept
      ? element(
          "p",
          { class: "soft", id: always },
          "Always: this edits the token ",
          element("bdi", {}, `“${asker.name}”`),
          `, which is no longer asked about ${question.tool} by its own rules.`,
        )
      : "",
    question.input_cut ? "" : editView(question, press),
    denyView(press),
  );
  return group;
}

function editView(question, press) {
  const input = element("textarea", { spellcheck: "false", autocomplete: "off", rows: "8" });
  input.value = editableJson(question.input);
  const edited = () => ({ decision: "allow", input: objectOf(input.value) });
  return element(
    "details",
    {},
    element("summary", {}, "Edit before allowing"),
    field("Input as JSON", input, {
      help: "This runs instead, once. The device checks it first; then you see what it made of it.",
    }),
    element("p", {}, press("Allow with these changes", "", edited)),
  );
}

function denyView(press) {
  const note = element("textarea", { maxlength: NOTE_MAX, autocomplete: "off" });
  const denied = () => ({ decision: "deny", ...(note.value.trim() && { note: note.value.trim() }) });
  return element(
    "details",
    {},
    element("summary", {}, "Deny with a word to the AI"),
    field("What it should know", note, { help: "It gets this with the refusal." }),
    element("p", {}, press("Deny with this word", "danger", denied)),
  );
}

function objectOf(text) {
  const value = parsed(text);
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error("The input must be a JSON object, such as {}.");
  return value;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The input is not valid JSON: ${error.message}`);
  }
}

/** Nothing else can be pressed meanwhile; the focus comes back if the question is still there. */
async function whileDeciding(group, pressed, work) {
  const before = pressed.textContent;
  clearNotice();
  group.disabled = true;
  pressed.textContent = "Sending …";
  try {
    await work();
  } catch (error) {
    showProblem(error);
  } finally {
    group.disabled = false;
    pressed.textContent = before;
    if (group.isConnected) pressed.focus({ preventScroll: true });
  }
}
