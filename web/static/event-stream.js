/** Server-sent events of a response. */

/** The relay says something every 15 seconds; after this long without a word the connection is broken, in milliseconds. */
const SILENT_AFTER = 45_000;

/** Yields `{event, data}` with `data` parsed, until the stream ends, breaks or falls silent. The last event tells which. */
export async function* eventsOf({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await heard(reader.read()).catch(() => ({ done: true }));
      if (done) return;
      // Only what came last can hold the end of an event.
      const blocks = (text.slice(-1) + value).includes("\n\n")
        ? (text + value).split("\n\n")
        : [text + value];
      text = blocks.pop();
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Rejects when a read takes too long. */
async function heard(read) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("The connection fell silent")), SILENT_AFTER);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined for a comment. */
function parsed(block) {
  const fields = new Map(block.split("\n").map(fieldOf));
  const data = fields.get("data");
  return data === undefined ? undefined : { event: fields.get("event"), data: JSON.parse(data) };
}

function fieldOf(line) {
  const colon = line.indexOf(": ");
  return [line.slice(0, colon), line.slice(colon + 2)];
}
