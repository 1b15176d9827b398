/** The authenticator that Chromium has for tests, as a phone or computer has one. */
import type { CDPSession, Page } from "playwright-core";

export interface Authenticator {
  readonly cdp: CDPSession;
  readonly authenticatorId: string;
}

/** Gives the page one whose owner always says yes. `verified`: it checked who the owner is. */
export async function addAuthenticator(page: Page, { verified = true } = {}): Promise<Authenticator> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      ctap2Version: "ctap2_1",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: verified,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

/** The passkeys in it, with their private keys. */
export async function passkeysIn({ cdp, authenticatorId }: Authenticator) {
  return (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
}

/** Copies passkeys into it, as who stole them would. */
export async function putPasskeys(
  { cdp, authenticatorId }: Authenticator,
  passkeys: Awaited<ReturnType<typeof passkeysIn>>,
): Promise<void> {
  for (const credential of passkeys)
    await cdp.send("WebAuthn.addCredential", { authenticatorId, credential });
}
