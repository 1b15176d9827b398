/** An invite's link that was opened: makes the account that it is for. */
import { signIn } from "./api.js";
import { clearNotice, element, field, form } from "./dom.js";

/** `account` is who is signed in here already, if anybody. `done` is called with the new account. */
export function invitedView(code, { account, done }) {
  const name = element("input", { type: "text", required: true, maxlength: 64, autocomplete: "name" });
  const submit = async () => {
    clearNotice();
    await signIn("/v1/invites/accept", { code, name: name.value });
    await done();
  };
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, "You are invited to this relay"),
    element(
      "p",
      {},
      "You get an account of your own: your devices, tokens and calls are yours alone. Nobody else sees them, not even who invited you.",
    ),
    account &&
      element(
        "p",
        { class: "warning" },
        `This browser is signed in as ${account.display_name ?? account.account}. With a new account it is signed in to that instead.`,
      ),
    form(
      element("button", { type: "submit", class: "main wide" }, "Create my account"),
      "Creating …",
      submit,
      field("Your name", name, { help: "People with whom you share devices see it." }),
    ),
  );
}
