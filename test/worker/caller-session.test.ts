/** One caller's socket by itself, over a socket of which the test says how much is queued. */
import type { CallId, DeviceId, GrantId, SessionId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { expect, it } from "vitest";
import { type CallerAttachment, CallerSession } from "../../worker/device/callers/session.ts";
import type { Recipient } from "../../worker/device/calls/types.ts";

const CALL = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75" as CallId;
const ATTACHMENT: CallerAttachment = {
  role: "caller",
  session: "0123456789abcdef" as SessionId,
  device: "home-0123456789" as DeviceId,
  account: "ann",
  lease: {
    scope: { id: "grant_a" as GrantId, owner: true, effects: [] },
    version: 1,
    expires: Number.POSITIVE_INFINITY,
    until: Number.POSITIVE_INFINITY,
  },
  expires: Number.POSITIVE_INFINITY,
  v1: true,
  binary: false,
  events: null,
  unanswered: [],
};

class SlowSocket {
  readonly sent: string[] = [];
  readyState: number = WebSocket.OPEN;
  bufferedAmount = 0;
  closed: number | undefined;

  send(data: string): void {
    this.sent.push(data);
  }

  close(code: number): void {
    this.closed = code;
    this.readyState = WebSocket.CLOSING;
  }

  serializeAttachment(): void {}
}

function session(queuedOfGrant = () => 0): { socket: SlowSocket; session: CallerSession } {
  const socket = new SlowSocket();
  return {
    socket,
    session: new CallerSession(socket as unknown as WebSocket, ATTACHMENT, queuedOfGrant),
  };
}

function expected(caller: CallerSession, id: string): Recipient {
  const recipient = caller.recipientOf(id);
  recipient.accepted(CALL, Date.now(), "read");
  return recipient;
}

const bytes = (text: string) => new TextEncoder().encode(text);

it("tells of live output that was left out before the answer too, when no more came", () => {
  const { socket, session: caller } = session();
  const recipient = expected(caller, "1");
  expect(recipient.output(bytes("x".repeat(300_000)), 0)).toBe(true);
  socket.bufferedAmount = LIMITS.callerQueueBytes + 1;
  expect(recipient.output(bytes("lost"), 0)).toBe(false);
  recipient.result({ call: CALL, status: "success", ms: 1 }, bytes('{"id":"1"}'), 1);
  expect(socket.sent.slice(1)).toEqual(['{"id":"1","type":"gap","frames":1}', '{"id":"1"}']);
});

it("answers an id once", () => {
  const { socket, session: caller } = session();
  const recipient = expected(caller, "1");
  const header = { call: CALL, status: "success", ms: 1 } as const;
  recipient.result(header, bytes("first"), 0);
  recipient.result(header, bytes("second"), 0);
  recipient.refuse({ code: "TIMEOUT", message: "late", hop: "relay" }, CALL);
  expect(socket.sent).toEqual(["first"]);
});

it("is closed when too much is queued for its grant, though little is for itself", () => {
  let queued = LIMITS.callerQueueMaxBytes;
  const { socket, session: caller } = session(() => queued);
  const large = bytes("x".repeat(300_000));
  expected(caller, "1").result({ call: CALL, status: "success", ms: 1 }, large, 0);
  expect(socket.sent).toHaveLength(1);
  queued += 1;
  expected(caller, "2").result({ call: CALL, status: "success", ms: 1 }, large, 0);
  expect(socket.sent).toHaveLength(1);
  expect(socket.closed).toBe(1013);
});
