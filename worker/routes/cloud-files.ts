/** The cloud store: a person sends a file of a device there, lists what is there, fetches it, or has it copied to a device. */
import { readBody } from "@matrx/shared/caller/body.ts";
import { isConditional, preconditionStatus, rangeOf } from "@matrx/shared/caller/files/conditions.ts";
import { fileHeaders, openFile, unsatisfiable } from "@matrx/shared/caller/files/download.ts";
import { commitUpload, sendBytes } from "@matrx/shared/caller/files/upload-calls.ts";
import { CALL_HEADERS } from "@matrx/shared/caller/parts.ts";
import { problemOfShape } from "@matrx/shared/caller/problem.ts";
import { newCall } from "@matrx/shared/caller/request.ts";
import {
  type CloudFile,
  cloudCopySchema,
  cloudFileListSchema,
  cloudFileSchema,
  newCloudCopySchema,
  newCloudFileSchema,
} from "@matrx/shared/cloud-file-api.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Context } from "hono";
import * as z from "zod";
import { keyOf } from "../account/cloud-file-rows.ts";
import { CALLER_BODY } from "../body.ts";
import { type Arriving, copyIn } from "../cloud/copy-in.ts";
import { cloudStore } from "../cloud/open-store.ts";
import { counted, eachSecond, transferResponse } from "../cloud/progress.ts";
import { unwrap } from "../outcome.ts";
import { DevicePort } from "../port/device-port.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";

/** In paths. */
export const CLOUD_FILE_PARAMETER = {
  schema: z.string(),
  description: "The id of a file in the cloud store",
  example: "cloud_4k7m2x9qpatr6w1z",
} as const;

const SHA256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const STORED: CloudFile = {
  id: "cloud_4k7m2x9qpatr6w1z",
  name: "report.pdf",
  device: "laptop-7h2k9m4x0q",
  path: "/home/ann/report.pdf",
  media_type: "application/pdf",
  state: "stored",
  arrived: 81734,
  size: 81734,
  sha256: SHA256,
  created: "2026-01-02T09:00:00.000Z",
  expires: "2026-01-09T09:00:00.000Z",
};

const EVENTS = {
  description: "To a request that accepts events",
  other: {
    "text/event-stream":
      "`arrived` with `{bytes, total}` about once a second, then `stored` with the answer of 201, or `error` with a problem",
  },
};

export const newCloudFileRoute: RelayRoute = {
  method: "POST",
  path: "/v1/devices/{device}/cloud-files",
  id: "createCloudFile",
  tag: "Files",
  summary: "Send a file to the cloud store",
  description:
    "Answers when all of it is stored; meanwhile `GET /v1/cloud-files` tells how much has arrived. A folder is stored as a zip. A transfer that breaks off leaves nothing. Whatever the device and its policy refuse to send is refused here too.",
  access: "person",
  headers: CALL_HEADERS,
  body: { schema: newCloudFileSchema, example: { path: "/home/ann/report.pdf", days: 7 } },
  answers: { 200: EVENTS, 201: { description: "It is stored", schema: cloudFileSchema, example: STORED } },
  errors: ["NOT_FOUND", "CONFLICT", "DEVICE_OFFLINE", "TIMEOUT", "TOOL_EXECUTION_FAILED", "RATE_LIMITED"],
  answer: async (c) => {
    const { path, days } = await readBody(c.req.raw, CALLER_BODY, newCloudFileSchema);
    cloudStore(c.env);
    const port = portOf(c);
    const opened = await openFile(port, newCall(c.req.raw), { path });
    if (opened instanceof Response) return opened;
    const { name, kind, media_type, length = null, path: place } = opened.facts;
    const facts = { name: kind === "directory" ? `${name || "files"}.zip` : name, media_type, path: place };
    const { bytes } = opened;
    try {
      const { accounts, person } = accountOf(c);
      const file = { ...facts, device: port.device, size: length, days };
      const id = unwrap(await accounts.beginCloudFile(person, file));
      return await transferResponse(c.req.raw, length, (onArrived) =>
        storeBytes(c, id, { bytes, length: length ?? undefined, onArrived }),
      );
    } catch (error) {
      // Nobody reads it any more.
      void bytes.cancel().catch(() => undefined);
      throw error;
    }
  },
};

async function storeBytes(c: Context<RelayEnv>, id: string, sent: Arriving): Promise<CloudFile> {
  const { accounts, person, account } = accountOf(c);
  const store = cloudStore(c.env);
  const key = keyOf(account, id);
  const note = eachSecond(async (arrived) => {
    unwrap(await accounts.cloudFileArrived(person, id, arrived));
  });
  const onArrived = async (arrived: number) => {
    await sent.onArrived(arrived);
    await note(arrived);
  };
  try {
    const stored = await copyIn(store, key, { ...sent, onArrived });
    return unwrap(await accounts.finishCloudFile(person, id, stored));
  } catch (error) {
    await accounts.dropCloudFile(id);
    throw error;
  }
}

export const cloudFilesRoute: RelayRoute = {
  method: "GET",
  path: "/v1/cloud-files",
  id: "listCloudFiles",
  tag: "Files",
  summary: "List the files in the cloud store",
  description: "The newest first, also those that are still arriving.",
  access: "person",
  answers: {
    200: {
      description: "The files",
      schema: cloudFileListSchema,
      example: { files: [STORED], bytes: 81734, max_bytes: 10737418240 },
    },
  },
  answer: async (c) => {
    const { accounts, person } = accountOf(c);
    return c.json(unwrap(await accounts.listCloudFiles(person)));
  },
};

export const cloudFileRoute: RelayRoute = {
  method: "GET",
  path: "/v1/cloud-files/{cloud_file}",
  id: "getCloudFile",
  tag: "Files",
  summary: "Download a file from the cloud store",
  description: "With ranges, entity tags and conditional requests, as `getFile`.",
  access: "person",
  headers: { Range: { schema: z.string(), description: "One range of bytes", example: "bytes=0-1023" } },
  answers: {
    200: { description: "The whole content", other: { "application/octet-stream": "The bytes" } },
    206: { description: "The range", other: { "application/octet-stream": "The bytes" } },
    304: { description: "It is still the version that the caller has" },
  },
  errors: ["NOT_FOUND", "INVALID_PARAMETERS"],
  answer: async (c) => {
    const { raw } = c.req;
    const { accounts, person } = accountOf(c);
    const file = unwrap(await accounts.findCloudFile(person, c.req.param("cloud_file") ?? ""));
    const { size, etag, headers } = factsOf(file, raw);
    const version = { etag, modified: Date.parse(file.created) };
    const status = isConditional(raw.headers) ? preconditionStatus(raw.headers, version) : undefined;
    if (status) return new Response(null, { status, headers });
    // A range is of a GET (RFC 9110, 14.2).
    const range = raw.method === "HEAD" ? "whole" : rangeOf(raw.headers, version, size);
    if (range === "none") return unsatisfiable(size);
    const part = range === "whole" ? { offset: 0, length: size } : range;
    headers["Content-Length"] = String(part.length);
    if (range !== "whole")
      headers["Content-Range"] = `bytes ${part.offset}-${part.offset + part.length - 1}/${size}`;
    const code = range === "whole" ? 200 : 206;
    if (raw.method === "HEAD" || size === 0) return new Response(null, { status: code, headers });
    const bytes = await contentOf(c, file, range === "whole" ? undefined : range);
    return new Response(bytes.pipeThrough(new FixedLengthStream(part.length)), { status: code, headers });
  },
};

export const removeCloudFileRoute: RelayRoute = {
  method: "DELETE",
  path: "/v1/cloud-files/{cloud_file}",
  id: "removeCloudFile",
  tag: "Files",
  summary: "Remove a file from the cloud store",
  description: "One that is still arriving is stopped.",
  access: "person",
  answers: { 204: { description: "It is gone" } },
  errors: ["NOT_FOUND"],
  answer: async (c) => {
    const { accounts, person } = accountOf(c);
    unwrap(await accounts.removeCloudFile(person, c.req.param("cloud_file") ?? ""));
    return c.body(null, 204);
  },
};

export const newCloudCopyRoute: RelayRoute = {
  method: "POST",
  path: "/v1/devices/{device}/cloud-copies",
  id: "createCloudCopy",
  tag: "Files",
  summary: "Copy a file from the cloud store to the device",
  description: "Answers when it is in place; it appears there whole or not at all. It stays in the store.",
  access: "person",
  headers: CALL_HEADERS,
  body: {
    schema: newCloudCopySchema,
    example: { file: "cloud_4k7m2x9qpatr6w1z", path: "/srv/report.pdf" },
  },
  answers: {
    200: EVENTS,
    201: {
      description: "It is in place",
      schema: cloudCopySchema,
      example: { path: "/srv/report.pdf", created: true, sha256: SHA256 },
    },
  },
  errors: ["NOT_FOUND", "CONFLICT", "DEVICE_OFFLINE", "TIMEOUT", "TOOL_EXECUTION_FAILED", "RATE_LIMITED"],
  answer: async (c) => {
    const wish = await readBody(c.req.raw, CALLER_BODY, newCloudCopySchema);
    const { accounts, person } = accountOf(c);
    const file = unwrap(await accounts.findCloudFile(person, wish.file));
    const port = portOf(c);
    const { path, overwrite, create_directories } = wish;
    const { size, etag: sha256 } = factsOf(file, c.req.raw);
    const input = { path, size, sha256, resumable: false, overwrite, create_directories };
    const { url, headers } = c.req.raw;
    return transferResponse(c.req.raw, size, async (onArrived) => {
      const body = counted(await contentOf(c, file, undefined), onArrived);
      const request = new Request(url, { method: "PUT", headers, body });
      const sent = await sendBytes(port, request, "Upload", input);
      if ("response" in sent) return sent.response;
      if (sent.error) return problemOfShape(sent.error, { call: sent.call, device: port.device });
      const committed = await commitUpload(port, sent.facts.upload);
      if ("response" in committed) return committed.response;
      const { facts } = committed;
      return { path: facts.path, created: facts.created, sha256: facts.sha256 };
    });
  },
};

function accountOf({ env, var: { caller } }: Context<RelayEnv>) {
  const { account, grant: person } = caller;
  return { accounts: env.ACCOUNT.getByName(account), account, person };
}

function portOf({ env, req, var: { caller, device } }: Context<RelayEnv>): DevicePort {
  return new DevicePort(env, caller, req.param("device") ?? "", device);
}

/** Of a file that has arrived. */
function factsOf({ name, size, sha256, created, media_type }: CloudFile, request: Request) {
  if (size === null || sha256 === null) throw new Error("the file is still arriving");
  const facts = { kind: "file", name, modified: created, etag: sha256, sha256, media_type } as const;
  return { size, etag: sha256, headers: fileHeaders(facts, request) };
}

async function contentOf(
  c: Context<RelayEnv>,
  { id }: CloudFile,
  part: { offset: number; length: number } | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const bytes = await cloudStore(c.env).get(keyOf(accountOf(c).account, id), part);
  if (bytes) return bytes;
  throw lostError();
}

function lostError(): MatrxError {
  return relayError("NOT_FOUND", "The bytes of this file are no longer in the cloud store", {
    hint: "Somebody removed them there: remove the file too, and send it again",
  });
}
