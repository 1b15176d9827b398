/** A request whose answer begins within a while: a network that swallows it must not let anybody wait for good. */
import { silentError, unreachableError } from "./api-error.ts";

/** A machine may have to be asked for some answers, in milliseconds. */
const PATIENCE = 30_000;

/** Throws ApiError when nothing answers in time, or the relay can't be reached; what `init.signal` says when that ends it. */
export async function patientFetch(address: string, init: RequestInit): Promise<Response> {
  const { signal } = init;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PATIENCE);
  try {
    return await fetch(address, {
      credentials: "same-origin",
      cache: "no-store",
      ...init,
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw late.signal.aborted ? silentError(init.method) : unreachableError();
  } finally {
    clearTimeout(timer);
  }
}

/** The text of an answer. Throws ApiError when it breaks off, or does not end in time. */
export async function patientText(response: Response, method?: string): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(silentError(method)), PATIENCE);
  });
  const text = response.text().catch(() => {
    throw unreachableError();
  });
  try {
    return await Promise.race([text, late]);
  } finally {
    clearTimeout(timer);
  }
}
