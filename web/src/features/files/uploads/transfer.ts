/** Sends one file by tus, which goes on where a connection broke. */
import { type DetailedError, type HttpRequest, Upload as Tus } from "tus-js-client";
import { accessToken } from "../../../relay/api.ts";
import { problemIn } from "../../../relay/problem-in.ts";
import { refusalOf } from "../../../relay/refusal.ts";
import { dropAccess } from "../../../relay/session.ts";
import { type Trouble, troubleOf } from "../../../ui/Problem.tsx";
import { joined } from "../paths.ts";
import { numbered, type Upload } from "./item.ts";

export interface Transfer {
  /** Keeps what has arrived. */
  pause(): void;
  /** Removes it. */
  cancel(): void;
}

export interface TransferListener {
  /** Where it goes on, at the relay. */
  onPlace(url: string): void;
  /** In bytes, of the whole file. */
  onSent(bytes: number): void;
  onDone(): void;
  /** Something has that name already. */
  onTaken(): void;
  /** It can go on later. */
  onBroken(error: Trouble): void;
  onFailed(error: Trouble): void;
}

/** Of one request, in bytes: some relays take no larger ones. */
const CHUNK = 50 * 1024 * 1024;
/** A file up to this size is sent with the request that begins it, in bytes. */
const AT_ONCE = 512 * 1024;
/** Pauses before it is tried again, in milliseconds. */
const AGAIN = [500, 1_000, 3_000, 5_000];
/** Others are for good. 401: the token, which is renewed; 423: the machine is not there. */
const PASSING: readonly number[] = [0, 401, 408, 423, 429, 502, 503, 504];

export function transfer(upload: Upload, file: File, listener: TransferListener): Transfer {
  const { device, folder, name, size, modified, mayReplace, keepBoth = 1, url } = upload;
  let isLeft = false;
  const tus = new Tus(file, {
    endpoint: `/v1/devices/${encodeURIComponent(device)}/uploads`,
    uploadUrl: url ?? null,
    metadata: {
      path: joined(folder, numbered(name, keepBoth)),
      overwrite: String(mayReplace),
      create_directories: "true",
      modified: new Date(modified).toISOString(),
    },
    chunkSize: CHUNK,
    retryDelays: AGAIN,
    uploadDataDuringCreation: size <= AT_ONCE,
    storeFingerprintForResuming: false,
    onBeforeRequest: authorize,
    onShouldRetry: (error) => {
      const status = statusOf(error);
      if (status === 401) dropAccess();
      return PASSING.includes(status);
    },
    onUploadUrlAvailable: () => tus.url !== null && listener.onPlace(tus.url),
    onProgress: (sent) => !isLeft && listener.onSent(sent),
    onSuccess: () => !isLeft && listener.onDone(),
    onError: (error) => {
      if (isLeft) return;
      const status = "originalRequest" in error ? statusOf(error) : undefined;
      const trouble = troubleOf(errorOf(error, status));
      if (trouble.code === "CONFLICT" && !mayReplace) listener.onTaken();
      else if (status !== undefined && PASSING.includes(status)) listener.onBroken(trouble);
      else listener.onFailed(trouble);
    },
  });
  tus.start();
  const stop = (isForGood: boolean) => {
    isLeft = true;
    // Nobody can be told of a failure any more; what has arrived is removed by itself after a day.
    void tus.abort(isForGood).catch(() => undefined);
  };
  return { pause: () => stop(false), cancel: () => stop(true) };
}

/** Removes what has arrived of one that nobody sends now. */
export function discard(url: string): void {
  // What can't be removed now goes by itself after a day.
  Tus.terminate(url, { onBeforeRequest: authorize, retryDelays: AGAIN }).catch(() => undefined);
}

async function authorize(request: HttpRequest): Promise<void> {
  const token = await accessToken();
  if (token !== undefined) request.setHeader("Authorization", `Bearer ${token}`);
}

/** 0: nothing answered. */
function statusOf({ originalResponse: response }: DetailedError): number {
  return response?.getStatus() ?? 0;
}

function errorOf(error: Error | DetailedError, status: number | undefined): Error {
  if (status === 0) return new Error("Can't reach the relay.");
  if (status === undefined || !("originalResponse" in error))
    return new Error("The browser can't read the file any more. Choose it again.");
  return refusalOf(new Response(null, { status }), problemIn(error.originalResponse?.getBody() ?? ""));
}
