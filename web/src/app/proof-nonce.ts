/** The nonce that the relay wrote into the page saves the first request of a session one way there and back. */
import { startWithNonce } from "../relay/session.ts";

const first = document.querySelector<HTMLMetaElement>('meta[name="proof-nonce"]')?.content;
if (first) startWithNonce(first);
