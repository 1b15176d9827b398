/** How many machines are called at the same time. */

const MOST = 8;
/** A browser opens six connections to a server over HTTP/1.1, and each call holds one: some stay free for all else. */
const MOST_OF_OLD_HTTP = 4;

export function mostAtOnce(): number {
  const entries = [
    ...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource"),
  ];
  const protocols = entries.flatMap((entry) =>
    entry instanceof PerformanceResourceTiming && entry.nextHopProtocol ? [entry.nextHopProtocol] : [],
  );
  return protocols.some((protocol) => protocol.startsWith("h") && !protocol.startsWith("http/1"))
    ? MOST
    : MOST_OF_OLD_HTTP;
}
