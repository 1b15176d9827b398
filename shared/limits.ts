/** Every limit of the wire and of a device, with its unit. Who enforces it stands at the end of each line. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const LIMITS = {
  /** A caller's frame, in bytes of UTF-8. Relay and local server. */
  callFrameBytes: 4 * MiB,
  /** A REST body, in bytes. Relay and local server. */
  restBodyBytes: 4 * MiB,
  /** A REST body of a route that asks for no credential, in bytes. Relay. */
  openBodyBytes: 64 * KiB,
  /** What an AI client says of itself when it registers, in bytes. Relay. */
  clientRegistrationBytes: 8 * KiB,
  /** A result frame of a device, header included, in bytes. Relay; the agent cuts before. */
  resultFrameBytes: 16 * MiB,
  /** One frame of live output, in bytes. Relay; the agent splits before. */
  outputFrameBytes: 64 * KiB,
  /** `device_register` and `manifest`, in bytes. Relay. */
  registerFrameBytes: 256 * KiB,
  /** Any other text frame of our agent, in bytes; a bare device's results are text, under the result's limit. Relay. */
  deviceFrameBytes: 256 * KiB,
  /** `tool_prepared`, in bytes. Relay; the agent cuts before. */
  preparedFrameBytes: 512 * KiB,
  /** A device's policy as JSON, in bytes: it goes with each call. Relay. */
  policyBytes: 64 * KiB,
  /** What the platform carries in one frame; beyond it the socket is lost. Our own programs refuse to send it. */
  platformFrameBytes: 32 * MiB,
  /** Nesting of a call frame's JSON, or of a request over MCP. Relay and local server. */
  depth: 64,
  /** A caller's id, in characters. Relay and local server. */
  callerIdChars: 128,
  /** Ids of one session's unanswered calls together, in bytes of a 16 KiB attachment: two per character if any is beyond Latin-1. Relay and local server. */
  unansweredIdBytes: 9 * KiB,
  /** Unanswered calls of one session. Relay and local server. */
  unansweredPerSession: 64,
  /** Unanswered calls of one device, over all callers. Relay. */
  unansweredPerDevice: 1024,
  /** An idempotency key, in characters. Relay and local server. */
  idempotencyKeyChars: 128,
  /** Calls that a device names when it registers, so that records show which the relay's storage lost. Agent. */
  lastCalls: 16,
  /** The input of a call that a person is asked about, in bytes of JSON. Relay. */
  approvalInputBytes: 1 * MiB,
  /** Calls of one grant on one device that wait for a person. Relay. */
  approvalsPerGrant: 20,
  /** Calls of one device that wait for a person, over all grants. Relay. */
  approvalsPerDevice: 100,
  /** Approvals of one device that are kept once they are over, for 24 hours. Relay. */
  approvalsKept: 200,
  /** Open account links of one account. Relay. */
  accountSockets: 64,
  /** Passkeys of one account. Relay. */
  passkeysPerAccount: 32,
  /** Browsers of one account that get notifications. Relay. */
  pushSubscriptions: 20,
  /** Notifications of one browser at once; then one more each `pushEvery`, and others are dropped. Relay. */
  pushBurst: 60,
  /** Recovery codes of one account; making new ones replaces all. Relay. */
  recoveryCodes: 10,
  /** An outcome kept in the ledger, in bytes; a larger one stays in the agent's journal. Relay. */
  ledgerOutcomeBytes: 64 * KiB,
  /** All outcomes in one device's ledger, in bytes. Relay. */
  ledgerBytes: 64 * MiB,
  /** All outcomes in the agent's journal, in bytes. Agent. */
  journalBytes: 256 * MiB,
  /** The first characters of an answer that ledger and feed may show. Agent. */
  previewChars: 500,
  /** A larger answer waits at our agent until its readers have room for it, and REST passes it on as it is read; in bytes. Relay and agent. */
  largeAnswerBytes: 256 * KiB,
  /** Large answers on their way to one caller's socket, in bytes; one is always let through, here and in the next two. Relay and local server. */
  callerAnswersBytes: 8 * MiB,
  /** Large answers on their way to all callers of one grant, in bytes. Relay. */
  grantAnswersBytes: 24 * MiB,
  /** Large answers on their way to all callers of one device, in bytes; the last `grantAnswersBytes` of it are for grants that have none. Relay. */
  deviceAnswersBytes: 64 * MiB,
  /** Bytes queued towards one caller before its live output is dropped. Relay and local server. */
  callerQueueBytes: 1 * MiB,
  /** Bytes queued towards all sockets of one grant, and as many towards its event streams, before the one due to get more is disconnected. Relay and local server. */
  callerQueueMaxBytes: 32 * MiB,
  /** Bytes queued towards one event stream before its live output is dropped. Relay and local server. */
  streamQueueBytes: 256 * KiB,
  /** Event streams that one grant may have open on one device; each call over MCP is one. Relay and local server. */
  streamsPerGrant: 512,
  /** `data` of an event as JSON, in bytes. Relay. */
  eventDataBytes: 8 * KiB,
  /** Events kept for each device; the oldest are dropped first, those of open conditions last. Relay. */
  eventsKept: 100,
  /** Events a device may send at once; faster ones than `eventEvery` are then dropped and counted. Relay. */
  eventBurst: 20,
  /** Data in one frame of a stream, in bytes: with the 64 bytes that each frame costs besides, 256 KiB of credit. Relay. */
  streamDataBytes: 256 * KiB - 64,
  /** The same on a connection that calls share. Agent. */
  streamSharedBytes: 64 * KiB - 64,
  /** The JSON in a message, an end or a reset of a stream, in bytes. Relay. */
  streamMessageBytes: 4 * KiB,
  /** The least credit that a stream is opened with, in bytes: a piece of data must fit. Relay. */
  streamWindowMinBytes: 32 * KiB,
  /** The most credit that a stream has in one direction at a time, in bytes. Relay. */
  streamWindowBytes: 4 * MiB,
  /** The least credit in one frame, in bytes: smaller ones would cost more than the data they let through. Relay. */
  streamCreditMinBytes: 4 * KiB,
  /** Open byte streams of one caller's connection; their numbers are kept in a 16 KiB attachment. Relay. */
  byteStreamsPerConnection: 32,
  /** Open byte streams of one grant on one device. Relay. */
  byteStreamsPerGrant: 64,
  /** Open byte streams of one device; the last `byteStreamsPerGrant` are for grants that have none. Relay. */
  byteStreamsPerDevice: 256,
  /** Credit of all streams of one grant on one device together, in bytes; those that take less have `streamWindowMinBytes` each beyond it. Relay. */
  grantWindowBytes: 16 * MiB,
  /** Credit of all streams of one device together, in bytes; the last `grantWindowBytes` of it are for grants that have none, and those that take less have theirs beyond it, too. Relay. */
  deviceWindowBytes: 48 * MiB,
  /** While this many bytes are queued towards a caller, or a device, its credit is held back. Relay. */
  streamQueuedBytes: 4 * MiB,
  /** Bytes queued towards one device before calls are refused: it reads too slowly. Relay. */
  deviceQueueMaxBytes: 16 * MiB,
} as const;

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Every time-out and interval, in milliseconds. */
export const TIMES = {
  /** Time for a device's first message. Relay. */
  registerWithin: 10 * second,
  /** Our agent's text `ping`. Agent. */
  heartbeat: 20 * second,
  /** Time for a `pong`; without one the agent reconnects. Agent. */
  pongWithin: 10 * second,
  /** After this long without a message, our agent is asked for a sign of life before anything is sent to it. Relay. */
  askAfter: 25 * second,
  /** Time for that sign of life. Relay. */
  signWithin: 5 * second,
  /** After this long without a message, our agent is `IDLE`. Relay. */
  agentIdleAfter: 30 * second,
  /** After this long without a message, our agent is `OFFLINE`, and its link is closed if it gives no sign of life. Relay. */
  silentAfter: 50 * second,
  /** After this long without a heartbeat, a bare device is `IDLE` (device document, Backend Device States). Relay. */
  idleAfter: 60 * second,
  /** After this long without a heartbeat, a bare device is `OFFLINE` (device document, Backend Device States). Relay. */
  offlineAfter: 5 * minute,
  /** Time for a device to reconnect that disconnected while calls were running. Relay. */
  reconnectGrace: 30 * second,
  /** The deadline of a call that sets none. Relay. */
  callDefault: 60 * second,
  /** The longest deadline a call may set (guide, Shell Execution). Relay. */
  callMax: 10 * minute,
  /** The relay answers for a device this long after the deadline passed. Relay. */
  deadlineGrace: 6 * second,
  /** An unanswered call is stored after this long. Relay. */
  settleAfter: 5 * second,
  /** Durable outcomes are acknowledged within this time; many at once. Relay. */
  ackWithin: 50,
  /** REST answers within this time, otherwise `202` with the call's URL. Relay. */
  restHold: 60 * second,
  /** How long a call over MCP is waited for before its client gets its name; many clients give up after 60 seconds. Relay and agent. */
  mcpWait: 50 * second,
  /** How long a client may listen for changed tools over MCP before it asks again. Relay. */
  mcpListen: 5 * minute,
  /** How long a family that a model enabled stays in the list of tools. Relay. */
  familyEnabled: 24 * hour,
  /** The longest that `Prefer: wait=` lets an event stream wait for a call. Relay. */
  streamWaitMax: 60 * minute,
  /** Time for a whole REST body. Relay and local server. */
  restBodyWithin: 60 * second,
  /** Time for a whole REST body, on a route that asks for no credential. Relay. */
  openBodyWithin: 10 * second,
  /** After this long without an event, an event stream sends a comment. Relay and local server. */
  streamKeepAlive: 15 * second,
  /** A reader that stops reading after the call's end is disconnected after this long. Relay and local server. */
  streamDrain: 60 * second,
  /** How long a large answer waits for its readers; meanwhile the call's other times are paused. Relay. */
  answerWaits: 10 * minute,
  /** How long a stream's data waits for its reader to give credit. Agent. */
  streamWaits: 10 * minute,
  /** Time for a device to say whether a person must be asked about a call. Relay. */
  prepareWithin: 15 * second,
  /** Time for a person to decide, and for an offline device to return after a yes. Relay. */
  approval: 10 * minute,
  /** A question is withdrawn so long after its caller left, if that can't ask for the call later. Relay. */
  callerGone: 30 * second,
  /** A model that makes a call so long after the same one, which still waits for a person, has given that up. Relay. */
  repeatAfter: 3 * second,
  /** How long a person's yes to the same call for an hour lasts. Relay. */
  allowance: 1 * hour,
  /** How long outcomes and idempotency keys are kept. Relay and agent. */
  outcomeKept: 24 * hour,
  /** How far the time in a call's name that its caller chose may differ from the server's. Relay and local server. */
  callTimeSkew: 5 * minute,
  /** How long a device object keeps a grant without asking again. Relay. */
  lease: 15 * minute,
  /** A lease is renewed in the background once less than this is left. Relay. */
  leaseRenew: 5 * minute,
  /** How long a pairing or login code is valid. Relay. */
  pairing: 10 * minute,
  /** How long a screen that watches calls is sent them without asking again. Relay. */
  watched: 3 * minute,
  /** How long a one-use `?ticket=` is valid. Relay. */
  ticket: 30 * second,
  /** How long a caller's unused session on a device is kept. Agent. */
  sessionKept: 1 * hour,
  /** A terminated command gets this long before it is killed. Agent. */
  killAfter: 3 * second,
  /** At most one report of progress of a call in this time, the newest. Agent; the relay drops what comes faster. */
  progressEvery: 50,
  /** How often our agent checks which of its tools can work. Agent. */
  toolsLook: minute,
  /** How often one more event is accepted after a device's `eventBurst` is used up. Relay. */
  eventEvery: 10 * second,
  /** How often one more notification is sent after a browser's `pushBurst` is used up. Relay. */
  pushEvery: 10 * second,
  /** Nobody is notified of a call that was decided within this time. Relay. */
  pushApprovalAfter: 2 * second,
  /** A notification of an alert or a long call that reaches no browser within this time is dropped. Relay. */
  pushKept: 12 * hour,
  /** A call that took at least this long is notified of at its end. Relay. */
  longCall: minute,
  /** A condition that ended and began again within this time is not notified of again, unless it is worse. Relay. */
  alertAgain: 10 * minute,
  /** A few take-overs of one device's connection within this time are told; without any for as long, it is over. Relay. */
  takeOversWithin: 15 * minute,
} as const;

/** Defaults of the policy's rates. `calls_at_once`: so many calls may come at once, others as the rate refills. */
export const RATES = {
  /** Bare devices, and the grants of anyone but the owner on them (device document, Rate Limits). */
  bare: { messages_per_second: 10, calls_per_minute: 20, calls_at_once: 20 },
  /** Grants of anyone but the owner: AIs and guests. */
  guest: { messages_per_second: 60, calls_per_minute: 300, calls_at_once: 60 },
  /** The owner's own grants and our agent. */
  owner: { messages_per_second: 50, calls_per_minute: 1200, calls_at_once: 1200 },
  /** Visits to a port, each request of a page being a call. */
  visit: { messages_per_second: 300, calls_per_minute: 3000, calls_at_once: 3000 },
  /** The shortest time between two `device_heartbeat`, in milliseconds. */
  heartbeatEvery: 10_000,
} as const;
