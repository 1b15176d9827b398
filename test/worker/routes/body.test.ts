/** Bodies of requests: counted while they are read, and read for so long only. */
import { LIMITS } from "@matrx/shared/limits.ts";
import { describe, expect, it } from "vitest";
import { readBounded } from "../../../shared/caller/body.ts";
import { bearer, claimWith, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const PIECE = new Uint8Array(16 * 1024).fill(0x20);

/** A body of this many bytes, of no stated length, that counts what was taken of it. */
function spaces(bytes: number, piece = PIECE) {
  const source = { taken: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (source.taken >= bytes) return controller.close();
        source.taken += piece.length;
        controller.enqueue(piece.slice());
      },
      cancel() {
        source.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { source, body };
}

function post(path: string, body: ReadableStream, headers: Record<string, string> = {}) {
  return ask(path, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
}

const OPEN = ["/v1/claim", "/v1/pairings", "/v1/logins", "/v1/pairings/ABCD-EFGH/poll"];

/** What is thrown away of a body after its request was refused. */
const DISCARDED = LIMITS.restBodyBytes;

describe("a body without a stated length", () => {
  it.each(OPEN)("of %s is read to 64 KiB, and thrown away for 4 MiB more", async (path) => {
    const { source, body } = spaces(3 * LIMITS.restBodyBytes);
    const response = await post(path, body);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      limit_bytes: LIMITS.openBodyBytes,
    });
    expect(source.taken).toBeLessThanOrEqual(LIMITS.openBodyBytes + DISCARDED + 2 * PIECE.length);
    expect(source.cancelled).toBe(true);
  });

  it("of a route with a token is read to 4 MiB, and thrown away for as much", async () => {
    const { token } = await (await Person.signIn()).token({ access: "full" });
    const { source, body } = spaces(4 * LIMITS.restBodyBytes);
    const response = await post("/v1/tickets", body, bearer(token));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ limit_bytes: LIMITS.restBodyBytes });
    expect(source.taken).toBeLessThanOrEqual(LIMITS.restBodyBytes + DISCARDED + 2 * PIECE.length);
  });

  it("is only thrown away where the credential is wrong", async () => {
    const { source, body } = spaces(3 * LIMITS.restBodyBytes);
    expect((await post("/v1/tickets", body, bearer("nonsense"))).status).toBe(401);
    expect(source.taken).toBeLessThanOrEqual(DISCARDED + 2 * PIECE.length);
  });

  it("is thrown away for some thousand parts only, however small they are", async () => {
    const { source, body } = spaces(LIMITS.restBodyBytes, PIECE.subarray(0, 1));
    expect((await post("/v1/tickets", body, bearer("nonsense"))).status).toBe(401);
    expect(source.taken).toBeLessThanOrEqual(DISCARDED / 1024 + 2);
  });
});

it("takes what is just as large as it may be", async () => {
  const body = JSON.stringify(await claimWith("x")).padEnd(LIMITS.openBodyBytes);
  expect((await ask("/v1/claim", { method: "POST", body })).status).toBe(401);
  expect((await ask("/v1/claim", { method: "POST", body: `${body} ` })).status).toBe(413);
});

it("puts characters together that the way took apart", async () => {
  const text = JSON.stringify({ name: "Ä".repeat(30) });
  const body = new ReadableStream({
    start(controller) {
      for (const byte of new TextEncoder().encode(text)) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  expect((await post("/v1/logins", body)).status).toBe(201);
});

describe("a body that does not end", () => {
  const unfinished = () => new ReadableStream({ start: (controller) => controller.enqueue(PIECE) });
  const rules = (ms: number) => ({ bytes: LIMITS.openBodyBytes, ms, brokeOff: () => undefined });
  const requestOf = (body: ReadableStream) => new Request("http://relay.test", { method: "POST", body });

  it("is refused once its time is over", async () => {
    const reading = readBounded(requestOf(unfinished()), rules(20));
    await expect(reading).rejects.toMatchObject({ code: "INVALID_MESSAGE", details: { limit_ms: 20 } });
  });

  it("is the caller's mistake when it breaks off", async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const reading = readBounded(requestOf(broken), rules(1000));
    await expect(reading).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
  });

  it("is refused also when it trickles", async () => {
    const trickle = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        controller.enqueue(Uint8Array.of(0x20));
      },
    });
    const reading = readBounded(requestOf(trickle), rules(50));
    await expect(reading).rejects.toMatchObject({ code: "INVALID_MESSAGE", details: { limit_ms: 50 } });
  });
});

it("says what is wrong with a body that is no JSON", async () => {
  const response = await ask("/v1/claim", { ...json({}), body: "{" });
  expect([response.status, await response.json()]).toMatchObject([400, { code: "INVALID_MESSAGE" }]);
});
