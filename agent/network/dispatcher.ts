/** What makes `fetch` connect in a way of ours. In a file of its own: few need it, and its library is large. */
import { Agent } from "undici";
import type { connectFor } from "./dial.ts";

type Connect = ReturnType<typeof connectFor>;

export function makeDispatcher(connectTo: (url: URL) => Connect): Agent {
  return new Agent({
    connect: ({ protocol, hostname, port }, done) => {
      const connect = connectTo(new URL(`${protocol}//${hostname}${port && `:${port}`}`));
      connect(undefined, (error, socket) => (error ? done(error, null) : done(null, socket)));
    },
  });
}
