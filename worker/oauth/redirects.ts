/**
 * Where a client may have a person's browser sent: to a site, to a program that listens on the browser's own machine, or to a
 * program by a scheme of its own. Such a scheme begins with a domain turned round (RFC 8252, section 7.1), or is one of
 * those that clients of MCP are known by: any other may open a part of the system, and do something there.
 */

/** `com.example.app`; systems' own begin otherwise, as `x-apple.systempreferences`. */
const TURNED_DOMAIN = /^[a-z]{2,63}(?:\.[a-z0-9-]+)+:$/;

/** Schemes of programs that call back by them. What else their addresses do, such as to install or open something, is not for clients. */
const KNOWN_PROGRAMS = new Set(
  [
    ...["antigravity", "cherrystudio", "chatgpt", "claude", "code-oss", "codex", "cursor", "goose", "jan"],
    ...["kiro", "lmstudio", "positron", "raycast", "trae", "vscode", "vscode-insiders", "vscodium", "warp"],
    ...["windsurf", "windsurf-next", "zed"],
  ].map((name) => `${name}:`),
);
const CALLED_BACK = /(?:^|[/._-])(?:oauth2?|auth|authorize|callback|oauth2?[_-]?callback)(?:$|[/._-])/i;

/** Hosts of their addresses that open or install something, whatever the path is. */
const OPENS = /^(?:file|folder|settings|extension|vscode-remote|vscode\.git|mcp)$/;

/** Whether a browser may be sent there. The library, which is asked besides, lets http go to loopback only. */
export function isGoodRedirect(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, host, pathname, search } = new URL(address);
  if (/^https?:$/.test(protocol) || TURNED_DOMAIN.test(protocol)) return true;
  return (
    KNOWN_PROGRAMS.has(protocol) && search === "" && !OPENS.test(host) && CALLED_BACK.test(host + pathname)
  );
}
