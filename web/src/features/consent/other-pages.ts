/** Pages of this browser that show the same request: once one of them is answered, the others say so. */
const others = new BroadcastChannel("consent");

export function tellAnswered(request: string): void {
  others.postMessage(request);
}

/** Calls back once the request is answered on another page. Returns what ends that. */
export function onAnswered(request: string, answered: () => void): () => void {
  const take = ({ data }: MessageEvent) => void (data === request && answered());
  others.addEventListener("message", take);
  return () => others.removeEventListener("message", take);
}
