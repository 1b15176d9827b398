/** Strangers who open the device's sockets as fast as they can while it dials again: it gets in, and its agent goes on. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { isAlive } from "../../scripts/start/process.ts";
import { type Rig, startRig } from "./rig.ts";

/** Reconnections under attack. */
const TIMES = 5;
const OPEN_MAX = 60;

class Crowd {
  readonly #rig: Rig;
  readonly #open: Socket[] = [];
  readonly #timer: NodeJS.Timeout;
  opened = 0;
  upgraded = 0;
  #answered = 0;

  /** Opens so many a second, but no more than 5000 in all nor than the relay can answer, and leaves the oldest of more than 60. */
  constructor(rig: Rig, rate: number) {
    this.#rig = rig;
    const due = performance.now();
    this.#timer = setInterval(() => {
      const wanted = Math.min(5000, ((performance.now() - due) / 1000) * rate);
      while (this.opened < wanted && this.opened - this.#answered < OPEN_MAX / 2) this.#join();
    }, 5);
  }

  #join(): void {
    this.opened++;
    const { relay, device } = this.#rig;
    const socket = connect(relay.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.once("close", () => socket.bytesRead === 0 && this.#answered++);
    socket.once("data", (data: Buffer) => {
      this.#answered++;
      if (data.toString().startsWith("HTTP/1.1 101")) this.upgraded++;
    });
    socket.write(
      `GET /v1/device/ws?device=${device} HTTP/1.1\r\nHost: localhost:${relay.port}\r\nConnection: Upgrade\r\n` +
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    this.#open.push(socket);
    if (this.#open.length > OPEN_MAX) this.#open.shift()?.destroy();
  }

  leave(): void {
    clearInterval(this.#timer);
    for (const socket of this.#open) socket.destroy();
  }
}

it.each([40, 300])(
  "the device registers each time while %i strangers a second dial",
  {
    timeout: 60_000,
  },
  async (rate) => {
    const rig = await startRig();
    onTestFinished(() => rig.stop());
    rig.line.slowDown(30);
    const crowd = new Crowd(rig, rate);
    onTestFinished(() => crowd.leave());
    const registered = () => rig.agent.states.filter((state) => state === "REGISTERED").length;
    const dialled = () => rig.agent.states.filter((state) => state === "RECONNECTING").length;
    for (let time = 0; time < TIMES; time++) {
      const before = registered();
      await sleep(100);
      rig.line.cut();
      await rig.agent.registered(before);
    }
    expect(isAlive(rig.agent.child.pid)).toBe(true);
    // Not once turned away.
    expect(dialled()).toBe(TIMES);
    expect(crowd.upgraded).toBeGreaterThan(OPEN_MAX);
    crowd.leave();
  },
);
