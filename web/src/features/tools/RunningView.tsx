/** A call that runs: how it stands, since when, how far it is, what it wrote until now, and a way to stop it. */
import { Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useDevice } from "../../data/devices.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { isOnline } from "../../ui/device-words.ts";
import { ago, clockTime, countdown } from "../../ui/format.ts";
import { useKeptFocus } from "../../ui/kept-focus.ts";
import { LiveOutputView } from "../../ui/output/LiveOutputView.tsx";
import { useNow } from "../../ui/use-now.ts";
import { nameInText } from "../../ui/visible-text.ts";
import { ProgressView } from "./ProgressView.tsx";
import type { Run } from "./run.ts";
import { liveOf, stopRun } from "./running.ts";

export function RunningView({ run }: { run: Run }) {
  const { tool, state, progress } = run;
  const view = useDevice(run.device);
  const machine = view ? nameInText(view.name) : "the machine";
  const now = useNow();
  const said = useRef<HTMLDivElement>(null);
  const live = liveOf(run);
  useKeptFocus(said);
  const stop = async () => {
    // The focus must not get lost with the button.
    said.current?.focus({ preventScroll: true });
    await stopRun(run);
  };
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <div ref={said} role="status" tabIndex={-1}>
          <Text size="sm">{wordsOf(run, machine)}</Text>
          {state === "asked" && (
            <Link to="/activity" search={{ show: "needs-you" }}>
              Decide in Activity
            </Link>
          )}
        </div>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" c="dimmed" role="timer" style={{ whiteSpace: "nowrap" }}>
            {countdown(now - run.began)}
          </Text>
          {state !== "sending" && (
            <ActionButton
              color="red"
              variant="outline"
              size="xs"
              aria-label={`Stop ${tool} on ${machine}`}
              work={stop}
            >
              Stop
            </ActionButton>
          )}
        </Group>
      </Group>
      {view && !isOnline(view) && view.last_seen !== null && (
        <Text size="sm" role="status">
          {`${machine} is offline: it was last seen ${ago(view.last_seen)}. What became of the call is told when it is back.`}
        </Text>
      )}
      {progress && <ProgressView {...progress} />}
      {live && <LiveOutputView live={live} />}
    </Stack>
  );
}

function wordsOf({ tool, effect, state, obstacle, expires }: Run, machine: string): string {
  if (obstacle !== undefined) return obstacle;
  if (state === "sending") return "Sending …";
  if (state === "asked")
    return `${tool} waits for approval${expires === undefined ? "" : ` until ${clockTime(expires)}`}. Nothing runs before.`;
  const leaving =
    effect === "read" ? "It stops if you close this page." : "It keeps running if you leave this page.";
  return `${tool} is running on ${machine}. ${leaving}`;
}
