/** The terminals of one machine. */
import "../../app/mantine-rest.css";
import "./mantine-terminal.css";
import { useParams } from "@tanstack/react-router";
import { Page } from "../../ui/Page.tsx";
import { nameInText } from "../../ui/visible-text.ts";
import { OfMachine } from "../device/OfMachine.tsx";
import { useLack } from "../tools/use-lack.ts";
import { Workspace } from "./Workspace.tsx";

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

function Terminals(props: { readonly device: string; readonly machine: string }) {
  const lack = useLack(props.device, "TerminalAttach");
  if (lack !== undefined) return <Page title={`Terminals of ${props.machine}`}>{lack}</Page>;
  return <Workspace {...props} />;
}
