/** Adding a machine: what to run on it, its code, what asks, and that it is connected. Also signs in command lines. */
import "../../ui/mantine-rest.css";
import { Stack } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Page } from "../../ui/Page.tsx";
import { codeOf } from "../sign-in/codes.ts";
import { BareDevicePanel } from "./BareDevicePanel.tsx";
import { CodePanel } from "./CodePanel.tsx";
import { type Added, ConnectedPanel } from "./ConnectedPanel.tsx";
import { InstallPanel } from "./InstallPanel.tsx";
import classes from "./PairPage.module.css";
import { RequestPanel } from "./RequestPanel.tsx";

export function PairPage() {
  const { hash } = useLocation();
  const navigate = useNavigate();
  /** The code that the person typed here instead of following a link. */
  const [typed, setTyped] = useState<string>();
  const [added, setAdded] = useState<Added>();
  const code = codeOf(hash);
  const leave = () => void navigate({ to: "/pair", hash: "", replace: true });
  const lookUp = (text: string) => {
    setTyped(codeOf(text));
    void navigate({ to: "/pair", hash: text });
  };
  if (added !== undefined) return <ConnectedPanel added={added} again={() => setAdded(undefined)} />;
  if (code !== undefined)
    return (
      <Page title="Waiting for your approval">
        <div className={classes.steps}>
          <RequestPanel
            code={code}
            isTyped={typed === code}
            leave={leave}
            added={(machine) => {
              leave();
              setAdded(machine);
            }}
          />
        </div>
      </Page>
    );
  return (
    <Page title="Add a machine" about="It dials out to this relay: no port is opened at home.">
      <Stack gap="md" className={classes.steps ?? ""}>
        <InstallPanel />
        <CodePanel lookUp={lookUp} />
        <BareDevicePanel />
      </Stack>
    </Page>
  );
}
