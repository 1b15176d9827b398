/** The description of the server that this page comes from. */
import { useCallback, useEffect, useState } from "react";
import type { OpenApi } from "./openapi.ts";

interface Description {
  readonly api?: OpenApi;
  readonly error?: unknown;
}

export function useDescription(): Description & { readonly retry: () => void } {
  const [description, setDescription] = useState<Description>({});
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt loads it anew
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    load(signal).then(
      (api) => setDescription({ api }),
      (error: unknown) => {
        if (!signal.aborted) setDescription({ error });
      },
    );
    return () => controller.abort();
  }, [attempt]);
  const retry = useCallback(() => {
    setDescription({});
    setAttempt((count) => count + 1);
  }, []);
  return { ...description, retry };
}

async function load(signal: AbortSignal): Promise<OpenApi> {
  const response = await fetch("/openapi.json", { signal }).catch((cause) => {
    throw new Error("Can't load /openapi.json: the server can't be reached", { cause });
  });
  if (!response.ok) throw new Error(`Can't load /openapi.json: the server answered ${response.status}`);
  return response.json();
}
