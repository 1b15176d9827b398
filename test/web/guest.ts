/** A person to whom the owner shares a machine. */
import * as z from "zod";
import type { newShareSchema } from "../../shared/share-api.ts";
import type { App, Opened } from "./app.ts";

const LINK = z.object({ link: z.string() });

/** Ben, signed in, who has accepted a share of the machine. */
export async function openAsGuest(
  { relay, machine, openSignedOut }: App,
  share: Omit<z.input<typeof newShareSchema>, "name" | "devices">,
): Promise<Opened> {
  const owner = await relay.signIn();
  const invite = await relay.request(owner, "POST /v1/invites", LINK, { name: "Ben" });
  const opened = await openSignedOut("");
  const { page } = opened;
  await page.goto(invite.link);
  await page.getByLabel("Your name").fill("Ben");
  await page.getByRole("button", { name: "Create my account" }).click();
  await page.getByRole("heading", { name: "No machines yet" }).waitFor();
  const wish = { name: "Ben", devices: [machine.id], ...share };
  const { link } = await relay.request(owner, "POST /v1/shares", LINK, wish);
  await page.goto(link);
  await page.getByRole("button", { name: "Accept" }).click();
  await page
    .getByText(/shares with you/)
    .first()
    .waitFor();
  return opened;
}
