/** Commands to the program on a device. */
import { api, part } from "./api.js";
import { button, element, showDone } from "./dom.js";

/** Buttons that start it anew and stop it. */
export function commandsView({ id, name, kind }) {
  const program = kind === "bare" ? "program" : "agent";
  const send = async (command, done) => {
    await api(`POST /v1/devices/${part(id)}/commands`, { command, reason: "Requested on the relay's page" });
    showDone(done);
  };
  return element(
    "section",
    { class: "card" },
    element("h2", {}, `The ${program} on `, name),
    element(
      "div",
      { class: "row" },
      button(
        `Restart ${program}`,
        () => send("restart_client", `The ${program} on ${name} was asked to restart.`),
        {
          busy: "Asking …",
          label: `Restart ${program} on ${name}`,
          ask: `Restart the ${program} on ${name}? Calls running there will be stopped.`,
        },
      ),
      button(`Stop ${program}`, () => send("shutdown", `The ${program} on ${name} was asked to stop.`), {
        kind: "danger",
        busy: "Asking …",
        label: `Stop ${program} on ${name}`,
        ask: `Stop the ${program} on ${name}? The machine can't be reached until someone starts it there.`,
      }),
    ),
  );
}
