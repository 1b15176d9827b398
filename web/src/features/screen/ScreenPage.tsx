/** The screen of a machine, as pictures: one, or again and again at a chosen pace; and its clipboard. */
import "../../ui/mantine-rest.css";
import { Button, NativeSelect, Text } from "@mantine/core";
import { IconCamera } from "@tabler/icons-react";
import { useParams } from "@tanstack/react-router";
import { OfMachine } from "../../machine/OfMachine.tsx";
import { useLack } from "../../machine/use-lack.ts";
import { useObstacle } from "../../machine/use-obstacle.ts";
import { Page } from "../../ui/Page.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { PictureView } from "../../ui/result/PictureView.tsx";
import { Status } from "../../ui/Status.tsx";
import { nameInText, visibleLine } from "../../ui/visible-text.ts";
import { WaitsForApproval } from "../../ui/WaitsForApproval.tsx";
import { ClipboardPanel } from "./ClipboardPanel.tsx";
import classes from "./Screen.module.css";
import { NO_PACE, useScreen } from "./use-screen.ts";

/** Between two pictures, in milliseconds. */
const PACES = [
  { value: String(NO_PACE), label: "Only when asked" },
  { value: "2000", label: "Every 2 seconds" },
  { value: "5000", label: "Every 5 seconds" },
  { value: "15000", label: "Every 15 seconds" },
  { value: "60000", label: "Every minute" },
];
const PRIMARY = "";

export function ScreenPage() {
  const { device: id } = useParams({ from: "/d/$device/screen" });
  return (
    <OfMachine id={id} title="Screen" notOfPrograms="Only machines with the Matrx agent show their screen.">
      {({ name }) => <Screen key={id} device={id} name={nameInText(name)} />}
    </OfMachine>
  );
}

function Screen({ device, name }: { device: string; name: string }) {
  const away = useObstacle(device);
  const lack = useLack(device, "Screenshot");
  const obstacle = away ?? lack;
  const { picture, error, isBusy, isAsked, pace, monitor, take, setPace, setMonitor } = useScreen(
    device,
    obstacle === undefined,
  );
  const monitors = picture?.monitors ?? [];
  return (
    <Page
      title={`Screen of ${name}`}
      about="Whoever looks at the screen sees all that is on it. Each picture is a call, with its record."
      actions={
        <Button
          leftSection={<IconCamera size={16} aria-hidden />}
          loading={isBusy}
          disabled={obstacle !== undefined}
          onClick={take}
        >
          Take a picture
        </Button>
      }
    >
      <div className={classes.bar}>
        <NativeSelect
          label="Again"
          data={PACES}
          value={String(pace)}
          onChange={({ currentTarget: { value } }) => setPace(Number(value))}
        />
        {monitors.length > 1 && (
          <NativeSelect
            label="Monitor"
            data={[
              { value: PRIMARY, label: "The primary one" },
              ...monitors.map(({ index, words }) => ({ value: String(index), label: visibleLine(words) })),
            ]}
            value={monitor === undefined ? PRIMARY : String(monitor)}
            onChange={({ currentTarget: { value } }) =>
              setMonitor(value === PRIMARY ? undefined : Number(value))
            }
          />
        )}
      </div>
      {obstacle && <Text size="sm">{obstacle}</Text>}
      {error !== undefined && <Problem error={error} />}
      <Panel title="Picture">
        {isAsked && <WaitsForApproval>The picture</WaitsForApproval>}
        {picture ? (
          <>
            <div className={classes.taken} role="status">
              <Status tone={pace !== NO_PACE && !error && !obstacle ? "ok" : "idle"}>
                Taken at {new Date(picture.at).toLocaleTimeString()}
              </Status>
              {picture.isOneColour && (
                <Text size="sm" c="dimmed">
                  All of it has one colour: the screen may be locked, asleep, or closed to programs.
                </Text>
              )}
            </div>
            <PictureView type={picture.type} base64={picture.base64} fileName={`screen-${picture.at}`} />
          </>
        ) : (
          <Text size="sm" c="dimmed">
            No picture was taken yet.
          </Text>
        )}
      </Panel>
      <ClipboardPanel device={device} isThere={away === undefined} />
    </Page>
  );
}
