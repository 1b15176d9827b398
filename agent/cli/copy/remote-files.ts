/** The files of a device, as a copy sees them. */
import { MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { DeviceCalls } from "./device-calls.ts";
import type { Files, Listed } from "./files.ts";
import { namesOf } from "./path-names.ts";
import { RemoteSink, remoteSource } from "./remote-file.ts";

export interface RemoteFilesOptions {
  readonly calls: DeviceCalls;
  readonly device: { readonly id: string; readonly name: string; readonly os: string | null };
  /** Where uploads are noted that can be continued. */
  readonly notes: string;
}

export function remoteFiles({ calls, device, notes }: RemoteFilesOptions): Files {
  const infoOf = async (path: string) => {
    try {
      return await calls.info(path);
    } catch (error) {
      if (error instanceof MatrxError && error.code === "NOT_FOUND") return undefined;
      throw error;
    }
  };
  return {
    kindOf: async (path) => (await infoOf(path))?.kind,
    async *list(path) {
      for await (const { name, type, name_base64 } of calls.list(path)) {
        yield { name, kind: name_base64 === undefined ? (KINDS[type] ?? "other") : "unnameable" };
      }
    },
    names: namesOf(device.os),
    async makeFolder(path) {
      await calls.call("create_directory", { path }, z.unknown());
    },
    openSource: async (path) => remoteSource(calls, device.id, await calls.info(path)),
    sinkFor: (path) => new RemoteSink({ calls, device: device.id, path, notes }),
    shown: (path) => `${device.name}:${path}`,
  };
}

/** By what a device calls them. */
const KINDS: Readonly<Record<string, Listed["kind"]>> = {
  file: "file",
  directory: "directory",
  symlink: "link",
};
