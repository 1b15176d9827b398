/** Every tool of a machine, and the one that is chosen: both are in the address. */
import "../../app/mantine-rest.css";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { api } from "../../relay/api.ts";
import { useDevice } from "../../relay/devices.ts";
import { proofOf } from "../../ui/device-words.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { ToolList } from "./ToolList.tsx";
import { ToolPanel } from "./ToolPanel.tsx";
import classes from "./ToolsPage.module.css";

export function ToolsPage() {
  const { device = "", tool: name } = useParams({ strict: false });
  const view = useDevice(device);
  const query = useQuery({
    queryKey: ["tools", device],
    queryFn: () => api("GET /v1/devices/{device}/tools", { path: { device } }),
  });
  return (
    <Page
      title={name === undefined ? `Tools of ${view?.name ?? "this machine"}` : name}
      about={
        name === undefined ? (
          view && proofOf(view)
        ) : (
          <Link to="/d/$device/tools" params={{ device }} className={classes.back}>
            All tools of {view?.name ?? "this machine"}
          </Link>
        )
      }
    >
      <Loaded query={query}>
        {({ tools: all }) => {
          // Some are only for programs.
          const tools = all.filter(({ model }) => !model?.hidden);
          const tool = tools.find((one) => one.name === name);
          if (tools.length === 0) return <Text>This machine hasn't reported its tools yet.</Text>;
          return (
            <div className={classes.columns} data-chosen={name !== undefined || undefined}>
              <ToolList device={device} tools={tools} />
              {tool && view ? (
                <ToolPanel key={`${device} ${tool.name}`} device={view} tool={tool} />
              ) : (
                <Text c="dimmed" className={classes.hint}>
                  {name === undefined ? "Choose a tool." : `This machine has no tool ${name}.`}
                </Text>
              )}
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}
