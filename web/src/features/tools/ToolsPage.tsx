/** Every tool of a machine, and the one that is chosen: both are in the address. */
import "../../ui/mantine-rest.css";
import { Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { useDevice } from "../../data/devices.ts";
import { useTools } from "../../data/tools.ts";
import { LOCAL_DEVICE } from "../../direct/local.ts";
import { proofOf } from "../../ui/device-words.ts";
import { effectWords } from "../../ui/effect-words.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { Status } from "../../ui/Status.tsx";
import { nameInText, visibleLine } from "../../ui/visible-text.ts";
import { DirectTrouble } from "../direct/DirectTrouble.tsx";
import { NotConnected } from "../direct/NotConnected.tsx";
import { BackToTools } from "./BackToTools.tsx";
import { History } from "./History.tsx";
import { ToolLink } from "./ToolLink.tsx";
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
  const machine = view ? nameInText(view.name) : "this machine";
  const chosen = useRef<HTMLDivElement>(null);
  if (device === LOCAL_DEVICE && !view) return <NotConnected />;
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
      {device === LOCAL_DEVICE && <DirectTrouble />}
      <Loaded query={query}>
        {() =>
          tools.length === 0 ? (
            <Text>This machine hasn't reported its tools yet.</Text>
          ) : (
            <div className={classes.columns} data-chosen={name !== undefined}>
              <ToolList tools={tools} skip={tool && (() => chosen.current?.focus())}>
                {(each) => <ToolLink device={device} tool={each} />}
              </ToolList>
              <div ref={chosen} className={classes.chosen} tabIndex={-1}>
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
