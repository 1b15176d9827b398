/** A message of the relay as it is shown: its words, where a tap leads, and what can be done at once. */
import type { PushMessage } from "@matrx/shared/push-message.ts";
import { visibleLine } from "../ui/visible-text.ts";

type ApprovalMessage = Extract<PushMessage, { kind: "approval" }>;

export interface Shown {
  readonly title: string;
  readonly body: string;
  /** Of two with the same tag, the later one takes the place of the other. */
  readonly tag: string;
  /** Where a tap leads. */
  readonly path: string;
  /** It only changes what is there: no sound. */
  readonly isSilent: boolean;
  /** What it asks, if it can be answered here. */
  readonly asks?: Question;
}

export interface Question {
  readonly device: string;
  readonly approval: string;
}

const EVENTS: Readonly<Record<string, string>> = {
  low_disk_space: "Low disk space",
  high_cpu_usage: "High CPU usage",
  new_file_detected: "New file",
  service_down: "A service is down",
  error_occurred: "An error",
  identity_shared: "Two agents as one machine",
  mount_changed: "An MCP server changed",
};

const SETTLED: Readonly<Record<Exclude<ApprovalMessage["state"], "pending">, string>> = {
  allowed: "It was allowed.",
  denied: "It was denied.",
  expired: "It expired before it was sent, so it did not run.",
  cancelled: "The call ended before it ran.",
};

const ENDS = { success: "finished", error: "failed", unknown: "ended" } as const;

/** A newer relay may send what this release does not know: also then something must be shown. */
export function shownOf(message: Partial<PushMessage>): Shown {
  if (message.kind === "approval") return approvalShown(message as ApprovalMessage);
  if (message.kind === "alert") return alertShown(message as Extract<PushMessage, { kind: "alert" }>);
  if (message.kind === "finished")
    return finishedShown(message as Extract<PushMessage, { kind: "finished" }>);
  const isTest = message.kind === "test";
  return {
    title: isTest ? "Notifications work" : "Something happened on your machines",
    body: isTest ? "This browser is told what happens on your machines." : "Open the app to see what.",
    tag: isTest ? "test" : "other",
    path: isTest ? "/settings/notifications" : "/activity",
    isSilent: false,
  };
}

/** Where people decide. */
const DECIDE_AT = "/activity?show=needs-you";

/** Also of what was decided just now, in this browser. */
export function settledShown({ device, approval }: Question, title: string, body: string): Shown {
  const tag = approvalTag(device, approval);
  return { title, body, tag, path: "/activity", isSilent: true };
}

/** An answer did not reach the relay. */
export function unansweredShown(asks: Question, { title, path }: Pick<Shown, "title" | "path">): Shown {
  const body = "Your answer did not reach the relay. Tap to answer on the page.";
  return { title, body, tag: approvalTag(asks.device, asks.approval), path, isSilent: false, asks };
}

function approvalShown({ state, approval, device, at_machine, ...names }: ApprovalMessage): Shown {
  const [tool, machine] = [visibleLine(names.tool), visibleLine(names.machine)];
  if (state !== "pending")
    return settledShown({ device, approval }, `${tool} on ${machine}`, SETTLED[state] ?? "It is over.");
  return {
    title: at_machine ? `${tool} waits on ${machine}` : `Allow ${tool} on ${machine}?`,
    body: at_machine ? "Only somebody at the machine can allow it." : "Tap to see what would run.",
    tag: approvalTag(device, approval),
    path: DECIDE_AT,
    isSilent: false,
    ...(!at_machine && { asks: { device, approval } }),
  };
}

function alertShown({
  device,
  machine,
  event_type,
  severity,
}: Extract<PushMessage, { kind: "alert" }>): Shown {
  const what = EVENTS[event_type] ?? visibleLine(event_type);
  return {
    title: `${what} on ${visibleLine(machine)}`,
    body: severity === "critical" ? "Critical. Tap to see more." : "Warning. Tap to see more.",
    tag: `alert ${device} ${event_type}`,
    path: `/d/${encodeURIComponent(device)}`,
    isSilent: false,
  };
}

function finishedShown(message: Extract<PushMessage, { kind: "finished" }>): Shown {
  const { device, call, status } = message;
  const [tool, machine] = [visibleLine(message.tool), visibleLine(message.machine)];
  return {
    title: `${tool} ${ENDS[status] ?? "ended"} on ${machine}`,
    body: status === "unknown" ? "Its outcome is not known. Tap to see more." : "Tap to see its record.",
    tag: `call ${call}`,
    path: `/d/${encodeURIComponent(device)}/calls/${encodeURIComponent(call)}`,
    isSilent: false,
  };
}

function approvalTag(device: string, approval: string): string {
  return `approval ${device} ${approval}`;
}
