/** How a machine is doing, as it goes: load, processes, connections, and what it reported. */
import "../../app/mantine-rest.css";
import { Button, NativeSelect, Text } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { isText, useKeptState } from "../../app/use-kept-state.ts";
import { clockTime } from "../../ui/format.ts";
import { Page } from "../../ui/Page.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { Status, type Tone } from "../../ui/Status.tsx";
import { nameInText } from "../../ui/visible-text.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import { WaitsForApproval } from "../../ui/WaitsForApproval.tsx";
import filters from "../activity/Filters.module.css";
import { EventsPanel } from "../device/EventsPanel.tsx";
import { OfMachine } from "../device/OfMachine.tsx";
import { ConnectionsView } from "./ConnectionsView.tsx";
import { LoadView } from "./LoadView.tsx";
import classes from "./Monitor.module.css";
import { ProcessesView } from "./ProcessesView.tsx";
import { useLink, useWatch } from "./use-watch.ts";
import { VIEWS } from "./views.ts";
import type { WatchState } from "./watching.ts";

/** Between two samples. */
const INTERVALS = [
  { value: "1000", label: "Every second" },
  { value: "2000", label: "Every 2 seconds" },
  { value: "5000", label: "Every 5 seconds" },
  { value: "15000", label: "Every 15 seconds" },
  { value: "60000", label: "Every minute" },
];
const USUAL = "2000";
/** How far back charts go. */
const RANGES = [
  { value: "60000", label: "The last minute" },
  { value: "300000", label: "The last 5 minutes" },
  { value: "900000", label: "The last 15 minutes" },
  { value: "3600000", label: "The last hour" },
];
const USUAL_RANGE = "300000";

export function MonitorPage() {
  const { device: id } = useParams({ from: "/d/$device/monitor" });
  return (
    <OfMachine
      id={id}
      title="Monitor"
      notDirectly="The monitor goes through the relay, not over the direct connection."
      notOfPrograms="Only machines with the Matrx agent can be watched."
    >
      {({ name }) => <Monitor key={id} device={id} name={nameInText(name)} />}
    </OfMachine>
  );
}

function Monitor({ device, name }: { device: string; name: string }) {
  const { view = "load" } = useSearch({ from: "/d/$device/monitor" });
  const [every, setEvery] = useChoice("monitor-interval", INTERVALS, USUAL);
  const [range, setRange] = useChoice("monitor-range", RANGES, USUAL_RANGE);
  const [isPaused, setPaused] = useState(false);
  const everyMs = Number(every);
  const link = useLink(device);
  const { samples, state, retry } = useWatch(view === "load" ? link : undefined, everyMs, isPaused);
  const last = samples.at(-1);
  const { tone, text } = wordsOf(state, isPaused);
  const asked = { link, everyMs, isFollowed: !isPaused };
  return (
    <Page title={`Monitor of ${name}`}>
      <div className={classes.bar}>
        <nav className={filters.filters} aria-label="What is shown">
          {VIEWS.map(({ view: each, label }) => (
            <Link
              key={each}
              to="/d/$device/monitor"
              params={{ device }}
              search={each === "load" ? {} : { view: each }}
              replace
              activeOptions={{ exact: true }}
              className={filters.filter}
            >
              {label}
            </Link>
          ))}
        </nav>
        <div className={classes.controls}>
          {view === "load" && (
            <span role="status">
              <Status tone={tone}>
                {text}
                {tone !== "ok" && last && ` · as of ${clockTime(last.at)}`}
              </Status>
            </span>
          )}
          {view === "load" && (
            <NativeSelect
              aria-label="How far back"
              data={RANGES}
              value={range}
              onChange={({ currentTarget: { value } }) => setRange(value)}
            />
          )}
          <NativeSelect
            aria-label="How often"
            data={INTERVALS}
            value={every}
            onChange={({ currentTarget: { value } }) => setEvery(value)}
          />
          <Button
            variant="default"
            leftSection={
              isPaused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />
            }
            onClick={() => setPaused(!isPaused)}
          >
            {isPaused ? "Resume" : "Pause"}
          </Button>
        </div>
      </div>
      {view === "load" && state.kind === "failed" && <Problem error={state.error} retry={retry} />}
      {view === "load" && state.kind === "asked" && <WaitsForApproval>Watching the machine</WaitsForApproval>}
      {view === "load" && last && (
        <LoadView samples={samples} last={last} isOld={tone !== "ok"} rangeMs={Number(range)} />
      )}
      {view === "load" && !last && state.kind !== "failed" && <NotYet state={state} />}
      {view === "load" && <EventsPanel device={device} />}
      {view === "processes" && (
        <Panel title="Processes">
          <ProcessesView {...asked} />
        </Panel>
      )}
      {view === "connections" && (
        <Panel title="Connections">
          <ConnectionsView {...asked} />
        </Panel>
      )}
    </Page>
  );
}

function NotYet({ state }: { state: WatchState }) {
  if (state.kind === "asked") return null;
  if (state.kind === "reconnecting" && state.isOffline)
    return <Text size="sm">The machine is offline. It is shown here when it is back.</Text>;
  if (state.kind === "silent")
    return <Text size="sm">The machine was asked, and tells no figures that can be read here.</Text>;
  return <Waiting />;
}

/** One of the choices, kept in this tab. */
function useChoice(name: string, choices: readonly { readonly value: string }[], usual: string) {
  const [kept, keep] = useKeptState(name, isText);
  const known = choices.find(({ value }) => value === kept);
  return [known?.value ?? usual, keep] as const;
}

function wordsOf(state: WatchState, isPaused: boolean): { tone: Tone; text: string } {
  if (isPaused) return { tone: "idle", text: "Paused" };
  switch (state.kind) {
    case "live":
      return { tone: "ok", text: "Live" };
    case "silent":
      return { tone: "warn", text: "The machine tells nothing new" };
    case "connecting":
      return { tone: "idle", text: "Connecting" };
    case "asked":
      return { tone: "warn", text: "Waiting for approval" };
    case "reconnecting":
      return { tone: "warn", text: state.isOffline ? "The machine is offline" : "Reconnecting" };
    case "failed":
      return { tone: "bad", text: "Unavailable" };
    default:
      return state satisfies never;
  }
}
