/** Runs a tool on several machines: both are in the address. */
import "../../ui/mantine-rest.css";
import { Button, Loader, Stack, Text } from "@mantine/core";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { useDevices } from "../../data/devices.ts";
import { effectWords } from "../../ui/effect-words.ts";
import { Fold } from "../../ui/Fold.tsx";
import { plural } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { ToolList } from "../tools/ToolList.tsx";
import toolsClasses from "../tools/ToolsPage.module.css";
import { BatchPanel } from "./BatchPanel.tsx";
import { isBatchUnderWay, useBatches, watchBatches } from "./batches.ts";
import { Chosen } from "./Chosen.tsx";
import { ManyTool } from "./ManyTool.tsx";
import { UnionToolLink } from "./UnionToolLink.tsx";
import { unionOf } from "./union.ts";
import { type Machine, useMachines } from "./use-machines.ts";

export function ManyPage() {
  const { machines: listed = "" } = useSearch({ strict: false });
  const { tool } = useParams({ strict: false });
  const ids = useMemo(() => [...new Set(listed.split(",").filter(Boolean))], [listed]);
  const query = useDevices();
  const machines = useMachines(ids);
  useEffect(watchBatches, []);
  const where = ids.length === 0 ? "several machines" : plural(ids.length, "machine");
  return (
    <Page
      title={`Run ${tool === undefined ? "a tool" : visibleLine(tool)} on ${where}`}
      about={<Chosen ids={ids} machines={machines} tool={tool} />}
    >
      {ids.length === 0 ? (
        <div>
          <Button renderRoot={(props) => <Link to="/fleet" {...props} />}>Select machines first</Button>
        </div>
      ) : (
        <Loaded query={query}>
          {() => (machines ? <Tools machines={machines} name={tool} /> : <Loader size="sm" m="md" />)}
        </Loaded>
      )}
      <Batches />
    </Page>
  );
}

function Tools({ machines, name }: { machines: readonly Machine[]; name: string | undefined }) {
  const union = useMemo(
    () => unionOf(new Map(machines.map(({ id, tools = [] }) => [id, tools]))),
    [machines],
  );
  const ids = machines.map(({ id }) => id);
  const tool = union.find((each) => each.name === name);
  if (union.length === 0) return <Text>None of these machines has reported its tools yet.</Text>;
  return (
    <div className={toolsClasses.columns} data-chosen={name !== undefined}>
      <ToolList tools={union}>{(each) => <UnionToolLink tool={each} machines={ids} />}</ToolList>
      <div className={toolsClasses.chosen}>
        {tool && (
          <>
            <div>
              <Status tone={effectWords(tool.effect).tone}>{effectWords(tool.effect).text}</Status>
            </div>
            <ManyTool key={tool.name} tool={tool} machines={machines} />
          </>
        )}
        {!tool && (
          <Text c="dimmed" className={name === undefined ? toolsClasses.onDesk : undefined}>
            {name === undefined
              ? "Choose the tool to run."
              : `None of these machines has a tool “${visibleLine(name)}”. Choose another one.`}
          </Text>
        )}
      </div>
    </div>
  );
}

/** The newest one; the others when somebody wants them. */
function Batches() {
  const [newest, ...earlier] = useBatches((state) => state.batches);
  if (!newest) return null;
  return (
    <>
      <BatchPanel key={newest.id} batch={newest} />
      {earlier.length > 0 && (
        <Fold title={plural(earlier.length, "earlier run")} isOpenFirst={earlier.some(isBatchUnderWay)}>
          {() => (
            <Stack gap="md">
              {earlier.map((batch) => (
                <BatchPanel key={batch.id} batch={batch} />
              ))}
            </Stack>
          )}
        </Fold>
      )}
    </>
  );
}
