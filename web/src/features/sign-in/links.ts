/**
 * What a link asks for, in the fragment of the address, which is sent nowhere: `#claim=`, `#oidc=`, `#pair=`, `#call=`,
 * `#invite=`, `#share=`. What signs in, or makes an account, leaves the address before it is used.
 */
import { create } from "zustand";
import { accountHereLast } from "../../data/use-account.ts";
import { finishAtIssuer, signedInAccount } from "../../relay/account.ts";
import { withdrawQuestion } from "../../ui/confirm.ts";
import { sayProblem } from "../../ui/notices.ts";
import { codeOf, keepCode, takeCode, takeRequest } from "./codes.ts";

const NAMES = ["claim", "oidc", "response", "pair", "call", "invite", "share"] as const;
type Fields = Partial<Record<(typeof NAMES)[number], string>>;

/** What the page was opened with. The router may change the address before anybody follows it. */
let atStart: Fields | undefined = takeFields();

export interface Links {
  /** A link is being followed: who is signed in is not known yet. */
  readonly isFollowing: boolean;
  /** An invite's code, until it was answered. */
  readonly invite: string | undefined;
  /** A share's code, until it was answered. */
  readonly share: string | undefined;
  /** The code of a machine or a command line that waits for this person. */
  readonly pair: string | undefined;
}

export const useLinks = create<Links>(() => ({
  isFollowing: Object.keys(atStart ?? {}).length > 0,
  invite: undefined,
  share: undefined,
  pair: undefined,
}));

/** Where the app goes next. */
export interface Ways {
  /** Somebody else may be signed in now. */
  signedIn(): Promise<void>;
  toPairing(code: string): void;
  toCall(device: string, call: string): void;
}

/** Does what the address asks for; the rest is shown. */
export async function followLink(ways: Ways): Promise<void> {
  const { claim: code, oidc, response, pair, call, invite, share } = atStart ?? takeFields();
  atStart = undefined;
  try {
    if (invite || share) {
      withdrawQuestion();
      useLinks.setState({ invite, share });
    }
    if (code) {
      // Forgotten as soon as it turns out that the session is over.
      const before = accountHereLast();
      await (await import("./sign-in-link.ts")).signInWith(code, before);
    }
    if (oidc) await finishAtIssuer(oidc, response ?? "");
    if (code || oidc) await ways.signedIn();
    if (pair !== undefined) await showPairing(pair, ways);
    if (call) {
      const [device = "", id = ""] = call.split("/");
      ways.toCall(decodeURIComponent(device), decodeURIComponent(id));
    }
  } catch (error) {
    sayProblem(error);
  } finally {
    useLinks.setState({ isFollowing: false });
  }
}

/** Somebody signed in on this page: the code that waits is shown here, and not by another page of this browser. */
export function takeWaitingCode(): void {
  const pair = takeCode();
  if (pair) useLinks.setState({ pair });
}

/** What waited for somebody to sign in: a code comes first, then an app's request. */
export function goOnAfterSignIn({ toPairing }: Pick<Ways, "toPairing">): void {
  const { pair } = useLinks.getState();
  useLinks.setState({ pair: undefined });
  if (pair) return toPairing(pair);
  const request = takeRequest();
  if (request) location.replace(`/authorize?${request}`);
}

async function showPairing(text: string, { toPairing }: Ways): Promise<void> {
  const code = codeOf(text);
  if (!code) throw noCodeError();
  if (await signedInAccount()) return toPairing(code);
  keepCode(code);
  useLinks.setState({ pair: code });
}

/** What the link holds instead is not shown: anybody could have written it. */
function noCodeError(): Error {
  return Object.assign(new Error("That link has no valid code."), {
    hint: "Open the link, or scan the QR code, that the machine or the command line shows.",
  });
}

/** The fragment's fields, which leave the address and the history. */
function takeFields(): Fields {
  const given = new URLSearchParams(location.hash.slice(1));
  const fields: Fields = {};
  for (const name of NAMES) {
    const value = given.get(name);
    // The reference has an operation of the name `claim`.
    if (value) fields[name] = value;
  }
  if (Object.keys(fields).length > 0)
    history.replaceState(history.state, "", location.pathname + location.search);
  return fields;
}
