/** A GET that depends on the file's version: which calls it makes of a device, new or old. */
import { expect, it } from "vitest";
import { fileResponse } from "../../../../shared/caller/files/download.ts";
import type { BytesAnswer, FilePort, RestAnswer, WantedCall } from "../../../../shared/caller/port.ts";

const FACTS = {
  ...{ kind: "file", path: "/a", name: "a.txt", size: 5, media_type: "text/plain" },
  ...{ modified: "2026-01-01T00:00:00.000Z", etag: "abc" },
};

type Said = Record<string, unknown>;
const encoder = new TextEncoder();

function answerOf({ call }: WantedCall, metadata: Said): RestAnswer {
  return { kind: "answer", call, status: "success", body: encoder.encode(JSON.stringify({ metadata })) };
}

/** A device whose Download answers so; `"refused"`: it does not know the input. Its FileInfo tells the facts. */
function portOf(download: (input: Said) => Said | "refused") {
  const calls: string[] = [];
  const left: string[] = [];
  const port = {
    ...{ device: "home", hop: "relay", sized: (bytes: ReadableStream<Uint8Array>) => bytes },
    call: async (wanted: WantedCall) => {
      calls.push(wanted.tool);
      return answerOf(wanted, FACTS);
    },
    callForBytes: async (wanted: WantedCall): Promise<BytesAnswer> => {
      calls.push(wanted.tool);
      const said = download(JSON.parse(wanted.input) as Said);
      const { call } = wanted;
      if (said === "refused") {
        const error = {
          code: "INVALID_PARAMETERS",
          message: "Unknown field: conditions",
          hop: "agent",
        } as const;
        return { answer: { kind: "refused", call, error } };
      }
      const bytes = new ReadableStream<Uint8Array>({ cancel: () => void left.push(call) });
      return { answer: answerOf(wanted, { ...FACTS, ...said }), bytes };
    },
  };
  return { port: port as unknown as FilePort, calls, left };
}

const get = (port: FilePort, headers: Record<string, string>) =>
  fileResponse(port, new Request("https://relay.example/files/a", { headers }), { path: "/a" });

it("is one call, of which no bytes are taken if the caller has that version", async () => {
  const { port, calls, left } = portOf(({ conditions }) => {
    expect(conditions).toEqual({ "If-None-Match": '"abc"' });
    return { status: 304, offset: 0, length: 0 };
  });
  const { status, headers } = await get(port, { "If-None-Match": '"abc"', Accept: "*/*" });
  expect([status, headers.get("ETag"), calls, left.length]).toEqual([304, '"abc"', ["Download"], 1]);
});

it("is one call for a part of the file, and for one behind its end", async () => {
  const part = portOf(() => ({ status: 206, offset: 1, length: 3 }));
  const { status, headers } = await get(part.port, { Range: "bytes=1-3" });
  expect([status, headers.get("Content-Range"), part.calls]).toEqual([206, "bytes 1-3/5", ["Download"]]);
  const behind = portOf(() => ({ status: 416 }));
  const refused = await get(behind.port, { Range: "bytes=5-" });
  expect([refused.status, refused.headers.get("Content-Range"), behind.calls]).toEqual([
    ...[416, "bytes */5", ["Download"]],
  ]);
});

it.each([
  ["refuses conditions", "refused"],
  ["leaves conditions out", {}],
] as const)("is served by an older agent, which %s, after a look at the file", async (_, first) => {
  const { port, calls } = portOf(({ conditions, offset, length }) =>
    conditions ? first : { offset, length },
  );
  const { status, headers } = await get(port, { Range: "bytes=1-3", "If-Match": '"abc"' });
  expect([status, headers.get("Content-Range")]).toEqual([206, "bytes 1-3/5"]);
  expect(calls).toEqual(["Download", "FileInfo", "Download"]);
});
