/** A device's socket by itself, of which the test says how much is queued. */
import type { ToDevice } from "@matrx/shared/device-frames.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { DeviceLink, type DeviceSocket } from "../../../worker/device/connection.ts";

class DeafSocket {
  readonly readyState = WebSocket.OPEN;
  bufferedAmount = 0;
  sent = 0;

  send(frame: string): void {
    this.sent++;
    this.bufferedAmount += frame.length;
  }

  serializeAttachment(): void {}
}

const ANSWER: ToDevice = { type: "tool_cancel", tool_call_id: "x".repeat(128) };
/** More than the queue may hold, however large frames are besides their text. */
const MANY = Math.ceil((2 * LIMITS.deviceQueueMaxBytes) / 128);

describe("a device that talks and does not read", () => {
  let socket: DeafSocket;
  let link: DeviceLink;

  beforeEach(() => {
    socket = new DeafSocket();
    link = new DeviceLink(() => null);
    const attachment = { role: "device", registered: false, epoch: 0, rates: [] };
    const spoken = { ours: true, protocol: 2, rates: [] };
    link.take({ ws: socket, attachment } as unknown as DeviceSocket, spoken, Date.now());
    for (let n = 0; n < MANY; n++) link.reply(ANSWER);
  });

  it("is answered as long as there is room", () => {
    expect(socket.sent).toBeGreaterThan(1000);
    expect(socket.bufferedAmount).toBeLessThan(LIMITS.deviceQueueMaxBytes + 2 * 1024 * 1024);
  });

  it("gets no calls then", () => {
    expect(() => link.requireLive(Date.now())).toThrow(MatrxError);
  });

  it("is told all the same what does not come from it", () => {
    const { sent } = socket;
    expect(link.send({ type: "session_end", grant: "grant_a" })).toBe(true);
    expect(socket.sent).toBe(sent + 1);
  });

  it("is answered again once it has read", () => {
    const { sent } = socket;
    socket.bufferedAmount = 0;
    link.reply(ANSWER);
    expect(socket.sent).toBe(sent + 1);
    expect(() => link.requireLive(Date.now())).not.toThrow();
  });
});
