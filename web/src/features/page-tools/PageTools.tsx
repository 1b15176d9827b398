/** Offers the machine that is shown to the browser's AI and to scripts, and shows what that asks for and that it goes on. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { useRouter } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense, useEffect, useState } from "react";
import { useTools } from "../../data/tools.ts";
import { useConnection } from "../../relay/connection.ts";
import { isOnline } from "../../ui/device-words.ts";
import { nameInText } from "../../ui/visible-text.ts";
import { splatOf } from "../files/paths.ts";
import { holdSession, offerTools, type Roads } from "./current-session.ts";
import type { Question } from "./gate.ts";
import { Sign } from "./Sign.tsx";
import type { PageSession } from "./session.ts";
import { toolsFor } from "./tools/all-tools.ts";

interface QuestionProps {
  readonly question: Question;
  readonly machine: string;
}

const QuestionDialog = lazy<ComponentType<QuestionProps>>(() =>
  import("./QuestionDialog.tsx").then(
    ({ QuestionDialog: found }) => ({ default: found }),
    () => ({ default: Unasked }),
  ),
);

export function PageTools({ device }: { device: DeviceView }) {
  const { id } = device;
  const session = useSession(id);
  const { data } = useTools(id);
  useEffect(() => {
    if (session && data) offerTools(session, toolsFor(data.tools));
  }, [session, data]);
  const isLive = useConnection(({ state }) => state === "online");
  const isReachable = isOnline(device) || !isLive;
  useEffect(() => session?.setReachable(isReachable), [session, isReachable]);
  useEffect(() => session?.setConnected(isLive), [session, isLive]);
  return session ? <Asked session={session} machine={nameInText(device.name)} /> : null;
}

function Asked({ session, machine }: { session: PageSession; machine: string }) {
  const question = session.gate.useState(({ questions }) => questions[0]);
  return (
    <>
      <Sign session={session} machine={machine} />
      <Suspense>{question && <QuestionDialog question={question} machine={machine} />}</Suspense>
    </>
  );
}

function useSession(device: string): PageSession | undefined {
  const router = useRouter();
  const [session, setSession] = useState<PageSession>();
  useEffect(() => {
    const roads: Roads = {
      toTerminals: (to) => void router.navigate({ to: "/d/$device/terminal", params: { device: to } }),
      toFolder: (to, path) =>
        void router.navigate({
          ...{ to: "/d/$device/files/$", params: { device: to, _splat: splatOf(path) }, search: {} },
        }),
      onArrival: (listener) =>
        router.subscribe("onResolved", ({ toLocation }) => listener(toLocation.pathname)),
    };
    const { session: held, release } = holdSession(device, roads);
    setSession(held);
    return release;
  }, [device, router]);
  return session;
}

/** The dialog could not be loaded, so nobody can say yes. */
function Unasked({ question: { answer } }: QuestionProps) {
  useEffect(() => answer("deny"), [answer]);
  return null;
}
