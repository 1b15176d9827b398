/** What stands in the way of the direct connection, and what to do, in words. */
import { type Direct, type Obstacle, USUAL_ADDRESS } from "../../direct/local.ts";

export interface ObstacleWords {
  readonly title: string;
  readonly hint: string;
  /** To be run on this computer. */
  readonly command?: string;
  /** What to do beyond that. */
  readonly more?: string;
}

const BY_ITSELF = "The app connects by itself as soon as it is there.";
const WHERE_TOKEN_IS =
  "When it starts, matrx serve prints which file holds the token. Paste what is in that file.";

export function obstacleWords({ obstacle, address, said }: Direct): ObstacleWords | undefined {
  if (obstacle === undefined) return undefined;
  return WORDS[obstacle](address, said);
}

const WORDS: Readonly<Record<Obstacle, (address: string, said: string | undefined) => ObstacleWords>> = {
  nothing: (address) => ({
    title: `Nothing answers at ${address}`,
    hint: `Start the local server on this computer and let it run.${safariWords()}`,
    command: serveCommand(address),
    more: BY_ITSELF,
  }),
  refused: (address) => ({
    title: `Something listens at ${address}, but this page may not read its answers`,
    hint: "The browser tells a page no more than that. If it is matrx serve, it was not told to allow this page: stop it with Ctrl C, and start it like this.",
    command: serveCommand(address),
    more: `${BY_ITSELF} If it is another program, choose another port, here and with --port.`,
  }),
  foreign: (address) => ({
    title: `Another program answers at ${address}`,
    hint: "It is not Matrx's local server. Start that on another port, then disconnect and change the address.",
    command: serveCommand(otherPort(address)),
  }),
  blocked: () => ({
    title: "This browser doesn't let the page reach this computer",
    hint: "Allow it in the browser's settings for this page, often behind the sign beside the address. There it is called “Apps on device” or “Local network”.",
    more: "The app then connects by itself.",
  }),
  "no token": () => ({ title: "The local server asks for its token", hint: WHERE_TOKEN_IS }),
  "wrong token": () => ({ title: "The local server expects a different token", hint: WHERE_TOKEN_IS }),
  other: (address, said = "") => ({ title: `The local server at ${address} refuses`, hint: said }),
};

/** Starts a server there that takes this page. */
function serveCommand(address: string): string {
  const port = address === USUAL_ADDRESS ? "" : ` --port ${new URL(address).port || 80}`;
  const host = new URL(address).hostname === "localhost" ? "" : ` --host ${new URL(address).hostname}`;
  return `matrx serve${host}${port} --allow-origin ${location.origin}`;
}

function otherPort(address: string): string {
  return address.endsWith(":8123") ? "http://localhost:8124" : "http://localhost:8123";
}

function safariWords(): string {
  const isSafari = navigator.vendor.startsWith("Apple") && location.protocol === "https:";
  return isSafari
    ? " Safari may refuse all the same: it lets no https page reach this computer. Chrome, Edge and Firefox do."
    : "";
}
