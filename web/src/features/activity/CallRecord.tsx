/** What is kept of a call, in words; its outcome; and a way to end one that runs. */
import { Alert, Box, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { answerIn, answerOf, UNREADABLE } from "../../relay/answer.ts";
import { isOver, stopCall } from "../../relay/known-call.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { effectWords } from "../../ui/effect-words.ts";
import { Facts } from "../../ui/Facts.tsx";
import { countdown, duration } from "../../ui/format.ts";
import { Panel } from "../../ui/Panel.tsx";
import { Status } from "../../ui/Status.tsx";
import { useNow } from "../../ui/use-now.ts";
import { visibleLine, visibleLines } from "../../ui/visible-text.ts";
import { KeptElsewhere } from "./KeptElsewhere.tsx";
import { Outcome } from "./Outcome.tsx";
import { Parameters } from "./Parameters.tsx";
import { ScrolledText } from "./ScrolledText.tsx";
import { type CallRecordView, useLiveOutput } from "./use-call-record.ts";
import type { Known } from "./use-record.ts";
import { makerName, stateWords } from "./words.ts";

interface Props {
  readonly record: CallRecordView;
  /** Who made it, with which parameters. */
  readonly known: Known | undefined;
  readonly machine: string;
}

export function CallRecord({ record, known, machine }: Props) {
  const { device, call, tool, state, created, deadline, finished, approval } = record;
  const isRunning = !isOver(record);
  const live = useLiveOutput(record, state === "accepted" && known !== undefined && known.effect !== "read");
  const cancel = () => stopCall({ device, call });
  const { tone, text } = stateWords(record, known?.exit);
  return (
    <>
      <Panel
        title="The call"
        actions={
          isRunning && (
            <ActionButton variant="default" work={cancel}>
              Cancel
            </ActionButton>
          )
        }
      >
        <Group gap="sm" mb="sm" role="status">
          <Status tone={tone}>{text}</Status>
          {isRunning && <Elapsed since={created} />}
          {state === "awaiting_approval" && (
            <Link to="/activity" search={{ show: "needs-you" }}>
              Decide on it
            </Link>
          )}
        </Group>
        <Facts
          facts={[
            ["Tool", <code key="tool">{visibleLine(tool)}</code>],
            [
              "Machine",
              <Link key="machine" to="/d/$device" params={{ device }}>
                {machine}
              </Link>,
            ],
            ["Made by", known && makerName(known.maker)],
            ["Effect", known && effectWords(known.effect).text],
            ["Made", timeOf(created)],
            ["Over", finished === null ? undefined : `${timeOf(finished)}${tookOf(known)}`],
            ["Ends by itself", isRunning ? timeOf(deadline) : undefined],
            ["Exit code", known?.exit],
            ["Problem", record.code ?? undefined],
            ["Decision", approval && decisionOf(approval)],
          ]}
        />
        {known && (
          <Box mt="sm">
            <Parameters input={known.input} />
          </Box>
        )}
      </Panel>
      {isRunning ? live && <LiveOutput text={live} /> : <Result record={record} />}
    </>
  );
}

const DECISIONS = {
  pending: "Waits for a person",
  allowed: "Allowed",
  denied: "Denied",
  expired: "Expired before it was sent",
  cancelled: "The call ended before it ran",
} as const;

function decisionOf({ state, edited }: NonNullable<CallRecordView["approval"]>): string {
  return `${DECISIONS[state] ?? visibleLine(state)}${edited ? ", with changes" : ""}`;
}

function Result({ record }: { record: CallRecordView }) {
  const { state, device, call, tool, outcome, outcome_in: place } = record;
  return (
    <>
      {state === "unknown" && (
        <Alert color="yellow" variant="outline" title="Nobody knows how it ended">
          It was started, and the machine or its program stopped before it told the end. It may have run in
          part or as a whole. Check what it changed before it is run again; it is never run again by itself.
        </Alert>
      )}
      {state === "expired" && (
        <Alert color="yellow" variant="outline" title="It never ran">
          It was denied, or never reached the machine. Nothing was changed.
        </Alert>
      )}
      {outcome !== undefined ? (
        <Outcome tool={tool} answer={answerIn(outcome) ?? answerOf(UNREADABLE)} />
      ) : place === "journal" ? (
        <KeptElsewhere device={device} call={call} tool={tool} />
      ) : (
        state === "finished" && <Text size="sm">Its answer is no longer kept.</Text>
      )}
    </>
  );
}

function Elapsed({ since }: { since: string }) {
  const now = useNow();
  return (
    <Text span size="sm" c="dimmed" role="timer">
      for {countdown(now - Date.parse(since))}
    </Text>
  );
}

function LiveOutput({ text }: { text: string }) {
  return (
    <Panel title="Output since you look">
      <ScrolledText label="Live output">{visibleLines(text)}</ScrolledText>
    </Panel>
  );
}

function timeOf(at: string): string {
  return new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
}

function tookOf(known: Known | undefined): string {
  return known?.ms === undefined ? "" : `, after ${duration(known.ms)}`;
}
