/** The page of one machine's terminals. */
import "../../ui/mantine-rest.css";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { OfMachine } from "../../machine/OfMachine.tsx";
import { useLack } from "../../machine/use-lack.ts";
import { Page } from "../../ui/Page.tsx";
import { usePageTitle } from "../../ui/page-title.ts";
import { useVisibleHeight } from "../../ui/use-visible-height.ts";
import { nameInText } from "../../ui/visible-text.ts";
import { FilesBeside } from "./FilesBeside.tsx";
import classes from "./Terminal.module.css";
import { Workspace } from "./Workspace.tsx";

/** For pages that show them beside something else: a chunk of its own would make the first load longer. */
export { Workspace };

export function TerminalPage() {
  const { device: id } = useParams({ from: "/d/$device/terminal" });
  return (
    <OfMachine
      id={id}
      title="Terminals"
      notDirectly="Terminals go through the relay, not over the direct connection."
      notOfPrograms="Only machines with the Matrx agent have terminals."
    >
      {({ name }) => <Terminals key={id} device={id} machine={nameInText(name)} />}
    </OfMachine>
  );
}

interface Props {
  readonly device: string;
  /** Its name. */
  readonly machine: string;
}

function Terminals(props: Props) {
  const lack = useLack(props.device, "TerminalAttach");
  if (lack !== undefined) return <Page title={`Terminals of ${props.machine}`}>{lack}</Page>;
  return <WholePage {...props} />;
}

function WholePage({ device, machine }: Props) {
  const page = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const title = `Terminals of ${machine}`;
  useEffect(() => {
    usePageTitle.setState({ title });
  }, [title]);
  useVisibleHeight(page);
  return (
    <div ref={page} className={classes.page}>
      <h1 id="page-title" tabIndex={-1} className={classes.title}>
        {title}
      </h1>
      <Workspace
        device={device}
        machine={machine}
        toFiles={() =>
          void navigate({ to: "/d/$device/files/$", params: { device }, search: { terminal: "last" } })
        }
        filesLink={<FilesBeside device={device} />}
      />
    </div>
  );
}
