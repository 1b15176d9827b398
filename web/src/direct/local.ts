/** This computer, where the app speaks to its local server (`matrx serve`) without the relay: how that connection stands. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { create } from "zustand";

/** In the place of a device's id: the relay gives out none like it. */
export const LOCAL_DEVICE = "local";
export const USUAL_ADDRESS = "http://localhost:8000";

/**
 * What stands in the way. `nothing`: no answer at all; `refused`: something listens, and the page may not read what it says;
 * `foreign`: another program; `blocked`: the browser's own permission; `other`: the server says so itself.
 */
export type Obstacle = "nothing" | "refused" | "foreign" | "blocked" | "no token" | "wrong token" | "other";

/** `connecting`: not yet once; `reconnecting`: it was open before; `stopped`: it needs the person. */
export type DirectState = "off" | "connecting" | "online" | "reconnecting" | "stopped";

export interface Direct {
  readonly state: DirectState;
  /** Since when, in milliseconds. */
  readonly since: number;
  /** Such as `http://localhost:8000`. */
  readonly address: string;
  /** What the last attempt met, until one succeeds. */
  readonly obstacle: Obstacle | undefined;
  /** In the server's own words. */
  readonly said: string | undefined;
  /** The last sign of life, there and back, in milliseconds. */
  readonly roundTrip: number | undefined;
  /** The computer's id at its relay, if it has one. */
  readonly device: string | undefined;
  readonly version: string | undefined;
}

const NOT_CONNECTED: Direct = {
  state: "off",
  since: 0,
  address: USUAL_ADDRESS,
  obstacle: undefined,
  said: undefined,
  roundTrip: undefined,
  device: undefined,
  version: undefined,
};

/** How it stands. Only `connection.ts` opens one; it ends when this says `off`. */
export const useDirect = create<Direct>(() => NOT_CONNECTED);

/** It is about to be opened, in the place of an earlier one. */
export function beginDirect(address: string): void {
  useDirect.setState({ ...NOT_CONNECTED, state: "connecting", since: Date.now(), address });
}

/** Ends it. Nothing of it stays, its token included, but what `kept.ts` keeps. */
export function endDirect(): void {
  useDirect.setState(NOT_CONNECTED);
}

/** This computer as one of the machines; undefined: nobody asked for the direct connection. */
export function useLocalDevice(): DeviceView | undefined {
  const { state, since, address, version = null } = useDirect();
  if (state === "off") return undefined;
  const at = new Date(since).toISOString();
  return {
    id: LOCAL_DEVICE,
    name: "This computer",
    kind: "agent",
    state: state === "online" ? "ONLINE" : "OFFLINE",
    last_seen: state === "connecting" ? null : at,
    proof: null,
    hostname: address.replace(/^.*\/\//, ""),
    os: null,
    os_version: null,
    agent_version: version,
    created: at,
  };
}
