/** Server-sent events of a response, until it ends, breaks off or falls silent. */
import { EventSourceParserStream } from "eventsource-parser/stream";

/** The relay says something every 15 seconds; after this long without a word the connection is broken, in milliseconds. */
const SILENT_AFTER = 45_000;

export interface ServerEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

export async function* serverEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerEvent> {
  const silence = Promise.withResolvers<never>();
  const fallSilent = () => silence.reject(new Error("It has not answered for a while"));
  let timer = setTimeout(fallSilent, SILENT_AFTER);
  const heard = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      clearTimeout(timer);
      timer = setTimeout(fallSilent, SILENT_AFTER);
      controller.enqueue(chunk);
    },
  });
  const reader = body
    .pipeThrough(heard)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), silence.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}
