/** An app's request as the relay reads it, and whom it asks: never what this browser remembers of them. */
import type { DeviceView } from "@matrx/shared/api.ts";
import type { ClientRequestView, RequestAnswer } from "@matrx/shared/oauth-api.ts";
import { useCallback, useEffect, useRef, useState } from "react";
import { tellApart } from "../../data/told-apart.ts";
import { type AccountView, signedInAccount } from "../../relay/account.ts";
import { api } from "../../relay/api.ts";
import { isSignedOut } from "../../relay/api-error.ts";
import { onOtherSession } from "../../relay/session.ts";
import { keepRequest, takeRequest } from "../sign-in/codes.ts";
import { onAnswered } from "./other-pages.ts";

export interface Asked {
  readonly client: ClientRequestView["client"];
  /** Where the browser goes with the answer. */
  readonly host: string;
  readonly isLocal: boolean;
  /** The only machine that it asks for; null: it leaves that to the person. */
  readonly machine: string | null;
  readonly account: AccountView;
  /** The account's own machines, as far as the app asks for them. */
  readonly offered: readonly DeviceView[];
}

export type RequestState =
  | { readonly kind: "reading" | "signed-out" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** On another page. */
  | { readonly kind: "answered"; readonly answer: RequestAnswer }
  | { readonly kind: "asked"; readonly asked: Asked };

/** `read` reads it anew, as is done whenever somebody else may be signed in. `request`: the query, as the app wrote it. */
export function useRequest(request: string): { state: RequestState; read: () => Promise<void> } {
  const [state, setState] = useState<RequestState>({ kind: "reading" });
  const last = useRef(0);
  const read = useCallback(async () => {
    last.current += 1;
    const own = last.current;
    setState({ kind: "reading" });
    const next = await stateOf(request);
    if (own === last.current) setState(next);
  }, [request]);
  useEffect(() => {
    void read();
    // A page that was left and is gone back to has slept through what others did.
    const wake = ({ persisted }: PageTransitionEvent) => void (persisted && read());
    addEventListener("pageshow", wake);
    const ends = [onOtherSession(() => void read()), onAnswered(request, () => void read())];
    return () => {
      removeEventListener("pageshow", wake);
      for (const end of ends) end();
    };
  }, [read, request]);
  return { state, read };
}

async function stateOf(request: string): Promise<RequestState> {
  try {
    const account = await signedInAccount();
    if (!account) return waiting(request);
    const [read, { devices }] = await Promise.all([
      api("POST /v1/oauth/requests", { body: { request } }),
      api("GET /v1/devices"),
    ]);
    // Who sees it need not be led here again.
    takeRequest();
    const { client, redirect_host: host, redirect_is_local: isLocal, device: machine, answered } = read;
    if (answered) return { kind: "answered", answer: answered };
    const own = devices.map(tellApart(devices)).filter(({ shared_by: by }) => by === undefined);
    const offered = machine === null ? own : own.filter(({ id }) => id === machine);
    return { kind: "asked", asked: { client, host, isLocal, machine, account, offered } };
  } catch (error) {
    return isSignedOut(error) ? waiting(request) : { kind: "failed", error };
  }
}

/** Some ways to sign in lead away from this page. */
function waiting(request: string): RequestState {
  keepRequest(request);
  return { kind: "signed-out" };
}
