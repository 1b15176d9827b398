/** Every tool of a machine, and the one that is chosen: both are in the address. */
import "../../app/mantine-rest.css";
import { Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useDevice } from "../../relay/devices.ts";
import { useTools } from "../../relay/tools.ts";
import { proofOf } from "../../ui/device-words.ts";
import { effectWords } from "../../ui/effect-words.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { BackToTools } from "./BackToTools.tsx";
import { History } from "./History.tsx";
import { ToolList } from "./ToolList.tsx";
import classes from "./ToolsPage.module.css";
import { ToolView } from "./ToolView.tsx";

export function ToolsPage() {
  const { device = "", tool: name } = useParams({ strict: false });
  const view = useDevice(device);
  const query = useTools(device);
  // Some are only for programs.
  const tools = query.data?.tools.filter(({ model }) => !model?.hidden) ?? [];
  const tool = tools.find((each) => each.name === name);
  const machine = view?.name ?? "this machine";
  return (
    <Page
      title={name === undefined ? `Tools of ${machine}` : visibleLine(tool?.title ?? name)}
      about={
        <>
          {name !== undefined && <BackToTools device={device} machine={machine} />}
          {view && <span>{proofOf(view)}</span>}
        </>
      }
      actions={tool && <Status tone={effectWords(tool.effect).tone}>{effectWords(tool.effect).text}</Status>}
    >
      <Loaded query={query}>
        {() =>
          tools.length === 0 ? (
            <Text>This machine hasn't reported its tools yet.</Text>
          ) : (
            <div className={classes.columns} data-chosen={name !== undefined}>
              <ToolList device={device} tools={tools} />
              <div className={classes.chosen}>
                {tool && <ToolView key={`${device} ${tool.name}`} device={device} tool={tool} all={tools} />}
                {!tool && (
                  <Text c="dimmed" className={`${classes.none} ${name === undefined ? classes.onDesk : ""}`}>
                    {name === undefined
                      ? "Choose a tool to see what it does and to run it."
                      : `This machine has no tool “${visibleLine(name)}”. Choose another one.`}
                  </Text>
                )}
                <History device={device} tool={tool} tools={tools} />
              </div>
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}
