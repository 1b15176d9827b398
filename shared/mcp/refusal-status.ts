/** A request that the protocol refuses at once gets that refusal's status, although our streams begin with a 200. */
import { ProtocolErrorCode } from "@modelcontextprotocol/server";

/** How long a response waits for its first event, in milliseconds: handlers that refuse do so before anything else. */
const AT_ONCE_MS = 20;
const REFUSAL_MAX = 4096;
const EVENT = /^event: message\ndata: (.*)\n\n$/;

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>>;

/** The same response, or the refusal that it holds. */
export async function withRefusalStatus(response: Response): Promise<Response> {
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (!isStream || !response.body) return response;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const first = reader.read();
  const refusal = refusalIn(await earlyOf(first));
  if (!refusal) return new Response(resumed(first, reader), response);
  await reader.cancel();
  return Response.json(refusal, { status: 400 });
}

async function earlyOf(first: Promise<Chunk>): Promise<Chunk | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), AT_ONCE_MS);
  try {
    return await Promise.race([first, late]);
  } finally {
    clearTimeout(timer);
  }
}

function refusalIn(first: Chunk | undefined): object | undefined {
  if (!first?.value || first.value.byteLength > REFUSAL_MAX) return undefined;
  const [, data] = EVENT.exec(new TextDecoder().decode(first.value)) ?? [];
  if (data === undefined) return undefined;
  const message = JSON.parse(data) as { error?: { code?: unknown } };
  return message.error?.code === ProtocolErrorCode.MissingRequiredClientCapability ? message : undefined;
}

/** The stream from its first chunk on. */
function resumed(first: Promise<Chunk>, reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream {
  let next: Promise<Chunk> | undefined = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await (next ?? reader.read());
      next = undefined;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
