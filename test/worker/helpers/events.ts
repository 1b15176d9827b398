/** A reader of server-sent events, one by one, as the WHATWG's parser reads them. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import * as z from "zod";

const decoder = new TextDecoder();

export interface TestEvent {
  event: string;
  id: string | undefined;
  data: Record<string, unknown>;
}

export class EventReader {
  readonly response: Response;
  /** The comments that came. */
  readonly comments: string[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #inbox: EventSourceMessage[] = [];
  readonly #parser = createParser({
    onEvent: (event) => this.#inbox.push(event),
    onComment: (comment) => this.comments.push(comment),
  });

  constructor(response: Response) {
    const type = response.headers.get("Content-Type");
    if (type !== "text/event-stream" || !response.body) throw new Error(`${response.status} ${type}`);
    this.response = response;
    this.#reader = response.body.getReader();
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<TestEvent | undefined> {
    for (;;) {
      const message = this.#inbox.shift();
      if (message) {
        const data = z.record(z.string(), z.unknown()).parse(JSON.parse(message.data));
        return { event: message.event ?? "message", id: message.id, data };
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  /** Reads until a comment came. */
  async comment(): Promise<string> {
    for (;;) {
      const comment = this.comments.shift();
      if (comment !== undefined) return comment;
      const { done, value } = await this.#reader.read();
      if (done) throw new Error("The stream ended");
      this.#parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  /** The next event, which must be of this name. */
  async expect(event: string): Promise<TestEvent> {
    const next = await this.next();
    if (next?.event !== event)
      throw new Error(`expected ${event}, got ${JSON.stringify(next)?.slice(0, 500)}`);
    return next;
  }

  /** All events from here to the end. */
  async rest(): Promise<TestEvent[]> {
    const events: TestEvent[] = [];
    for (let next = await this.next(); next; next = await this.next()) events.push(next);
    return events;
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}
