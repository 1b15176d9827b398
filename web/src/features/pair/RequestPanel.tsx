/** What asks under a code: a machine that wants to be added, or a command line that wants to sign in. */
import { Button, Code, Group, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { refreshDevices } from "../../data/devices.ts";
import { useQuery } from "../../data/query.ts";
import { useAccount } from "../../data/use-account.ts";
import { api } from "../../relay/api.ts";
import type { Answer } from "../../relay/routes.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { accountWords } from "../../ui/account-words.ts";
import { Facts } from "../../ui/Facts.tsx";
import { clockTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { say, sayProblem } from "../../ui/notices.ts";
import { Panel } from "../../ui/Panel.tsx";
import { codeOf } from "../sign-in/codes.ts";
import type { Added } from "./ConnectedPanel.tsx";

type Asked = Answer<"GET /v1/pairings/{code}">;

interface Props {
  readonly code: string;
  /** The person typed the code here. Otherwise somebody may have sent them its link. */
  readonly isTyped: boolean;
  readonly leave: () => void;
  /** A machine was added. */
  readonly added: (machine: Added) => void;
}

export function RequestPanel({ code, isTyped, leave, added }: Props) {
  const { data: account } = useAccount();
  const query = useQuery({
    queryKey: ["pairing", code],
    queryFn: () => api("GET /v1/pairings/{code}", { path: { code } }),
    retry: false,
    gcTime: 0,
  });
  const confirm = async ({ name }: Asked) => {
    const { device } = await api("POST /v1/pairings/{code}/confirm", { path: { code }, body: {} });
    await refreshDevices();
    if (device !== undefined) return added({ device, name });
    leave();
    say(`${name} is signed in.`);
  };
  // Somebody may have had this browser signed in as themselves.
  const into = account ? accountWords(account) : "";
  const later = (
    <Button variant="default" onClick={leave}>
      Not now
    </Button>
  );
  return (
    <>
      <Loaded query={query}>
        {(asked) =>
          asked.kind === "device" ? (
            <MachinePanel
              asked={asked}
              code={code}
              into={into}
              confirm={() => confirm(asked)}
              later={later}
            />
          ) : (
            <LoginPanel
              asked={asked}
              code={code}
              into={into}
              isTyped={isTyped}
              confirm={() => confirm(asked)}
              later={later}
            />
          )
        }
      </Loaded>
      {query.error && <div>{later}</div>}
    </>
  );
}

interface PanelProps {
  readonly code: string;
  readonly asked: Asked;
  /** The account that it would belong to. */
  readonly into: string;
  readonly confirm: () => Promise<void>;
  readonly later: React.ReactNode;
}

function MachinePanel({ code, asked, into, confirm, later }: PanelProps) {
  const { name, hostname, os, os_version: version, fingerprint, expires } = asked;
  return (
    <Panel title="Add this machine?">
      <Text size="sm" mb="md">
        Add it only if you just started this yourself and the machine shows the same code and key. You will be
        able to run tools on it.
      </Text>
      <Facts
        facts={[
          ["Name", name],
          ["Code", <Code key="code">{code}</Code>],
          ["Computer", hostname],
          ["System", [os, version].filter(Boolean).join(" ")],
          ["Key", fingerprint && <Code key="key">{fingerprint}</Code>],
          ["For the account", into],
          ["Code valid until", clockTime(expires)],
        ]}
      />
      <Group mt="md">
        <ActionButton work={confirm}>Add</ActionButton>
        {later}
      </Group>
    </Panel>
  );
}

/** The code of a link isn't shown here: it has to be read from the terminal that made it. */
function LoginPanel({ code, asked, into, isTyped, confirm, later }: PanelProps & { isTyped: boolean }) {
  const [typed, setTyped] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (codeOf(typed) === code) return confirm().catch(sayProblem);
    sayProblem(
      Object.assign(new Error("That is not the code of this request."), {
        hint: "Type the code your terminal shows. If it shows a different code, or none, someone else is asking: choose Not now.",
      }),
    );
  };
  return (
    <Panel title="Sign in this command line?">
      <Text size="sm" mb="md">
        Approve it only if you just started this yourself in your own terminal. It will be able to do
        everything you can do here: run commands and change files on all your machines, add and remove
        machines, and create tokens, for 90 days or until you revoke it under Settings.
      </Text>
      <Facts
        facts={[
          ["Name", asked.name],
          ["For the account", into],
          ["Code valid until", clockTime(asked.expires)],
        ]}
      />
      {isTyped ? (
        <Group mt="md">
          <ActionButton work={confirm}>Approve</ActionButton>
          {later}
        </Group>
      ) : (
        <form onSubmit={(event) => void submit(event)}>
          <TextInput
            mt="md"
            label="Code"
            description="Type the code your terminal shows. If someone sent you this link or a code, approving would sign them in as you."
            placeholder="ABCD-EFGH"
            required
            withAsterisk={false}
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Group mt="md">
            <Button type="submit">Approve</Button>
            {later}
          </Group>
        </form>
      )}
    </Panel>
  );
}
