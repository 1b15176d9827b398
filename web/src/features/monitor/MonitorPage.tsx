/** How a machine is doing, as it goes: load, processes, connections, and what it reported. */
import "../../ui/mantine-rest.css";
import { Text } from "@mantine/core";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { OfMachine } from "../../machine/OfMachine.tsx";
import { useLack } from "../../machine/use-lack.ts";
import { clockTime } from "../../ui/format.ts";
import { Page } from "../../ui/Page.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Status } from "../../ui/Status.tsx";
import { nameInText } from "../../ui/visible-text.ts";
import { EventsPanel } from "../device/EventsPanel.tsx";
import { ConnectionsView } from "./ConnectionsView.tsx";
import { useInterval, useRange } from "./choices.ts";
import { MonitorBar } from "./MonitorBar.tsx";
import { ProcessesView } from "./ProcessesView.tsx";
import { useWatch } from "./use-watch.ts";
import { toolOf } from "./views.ts";
import { WatchedLoad } from "./WatchedLoad.tsx";
import { wordsOf } from "./watch-words.ts";

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
  const interval = useInterval();
  const range = useRange();
  const [isPaused, setPaused] = useState(false);
  const everyMs = Number(interval.value);
  const lack = useLack(device, toolOf(view));
  const isLoad = view === "load" && lack === undefined;
  const watched = useWatch(device, everyMs, isPaused || !isLoad);
  const last = watched.samples.at(-1);
  const { tone, text } = wordsOf(watched.state, isPaused);
  const asked = { device, everyMs, isFollowed: !isPaused };
  return (
    <Page title={`Monitor of ${name}`}>
      <MonitorBar {...{ device, isPaused, setPaused }} choices={isLoad ? [range, interval] : [interval]}>
        {isLoad && (
          <span role="status">
            <Status tone={tone}>
              {text}
              {tone !== "ok" && last && ` · as of ${clockTime(last.at)}`}
            </Status>
          </span>
        )}
      </MonitorBar>
      {lack !== undefined && <Text size="sm">{lack}</Text>}
      {isLoad && <WatchedLoad watched={watched} isOld={tone !== "ok"} rangeMs={Number(range.value)} />}
      {view === "load" && <EventsPanel device={device} />}
      {view === "processes" && lack === undefined && (
        <Panel title="Processes">
          <ProcessesView {...asked} />
        </Panel>
      )}
      {view === "connections" && lack === undefined && (
        <Panel title="Connections">
          <ConnectionsView {...asked} />
        </Panel>
      )}
    </Page>
  );
}
