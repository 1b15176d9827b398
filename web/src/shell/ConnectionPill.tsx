/** How the app is connected, in words and colour, on every page. */
import { IconPlugConnected, IconPlugConnectedX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useDirect } from "../direct/local.ts";
import { type ConnectionState, retryNow, useConnection } from "../relay/connection.ts";
import { clockTime } from "../ui/format.ts";
import { Status, type Tone } from "../ui/Status.tsx";
import { update, useRelease } from "./release.ts";
import classes from "./Shell.module.css";

/** A blink of the network is nobody's business, in milliseconds. */
const TELL_AFTER = 1_000;

export function ConnectionPill() {
  return (
    <>
      <RelayPill />
      <DirectPill />
    </>
  );
}

/** Beside the relay's state: whether this computer is reached without it. */
function DirectPill() {
  const { state, obstacle } = useDirect();
  // A connection that is just being made is nobody's business either.
  if (state === "off" || (state === "connecting" && !obstacle)) return null;
  const isOnline = state === "online";
  const Icon = isOnline ? IconPlugConnected : IconPlugConnectedX;
  return (
    <Link
      to="/settings/$part"
      params={{ part: "connection" }}
      className={classes.direct}
      aria-live="polite"
      title={isOnline ? "This computer is connected directly" : "This computer is not reached directly now"}
    >
      <Status tone={isOnline ? "ok" : "warn"}>
        <Icon size={16} aria-hidden />
        <span className={classes.directWord}>{isOnline ? "Direct" : "Not direct"}</span>
      </Status>
    </Link>
  );
}

function RelayPill() {
  const { state, since, roundTrip } = useConnection();
  const isUpdateReady = useRelease(({ isReady }) => isReady);
  const isTold = useLater(state !== "online", since);
  const { tone, text } = wordsOf(state, isTold);
  const details = state === "online" && roundTrip !== undefined ? ` · ${Math.round(roundTrip)} ms` : "";
  if (isUpdateReady && state === "online")
    return (
      <button type="button" className={classes.pill} title="Load it in this tab" onClick={update}>
        <Status tone="info">Update ready</Status>
      </button>
    );
  return (
    <button
      type="button"
      className={classes.pill}
      aria-live="polite"
      title={state === "online" ? `Connected through the relay${details}` : "Try again now"}
      onClick={retryNow}
    >
      <Status tone={tone}>
        <span>
          {text}
          {text === RECONNECTING && <span className={classes.asOf}> · as of {clockTime(since)}</span>}
        </span>
      </Status>
    </button>
  );
}

const RECONNECTING = "Reconnecting";

function wordsOf(state: ConnectionState, isTold: boolean): { tone: Tone; text: string } {
  if (state === "online" || (state === "reconnecting" && !isTold)) return { tone: "ok", text: "Connected" };
  if (state === "reconnecting") return { tone: "warn", text: RECONNECTING };
  if (state === "signed out") return { tone: "bad", text: "Signed out" };
  return { tone: isTold ? "warn" : "idle", text: isTold ? "Can't reach the relay" : "Connecting" };
}

function useLater(isOn: boolean, since: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!isOn) return;
    const timer = setTimeout(() => setLate(true), Math.max(0, TELL_AFTER - (Date.now() - since)));
    return () => clearTimeout(timer);
  }, [isOn, since]);
  return isLate;
}
