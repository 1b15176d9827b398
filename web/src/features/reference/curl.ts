/** An operation as a line for a POSIX shell. */
import { visibleJson } from "../../ui/visible-text.ts";
import type { Listed } from "./operations.ts";

/** Undefined for a WebSocket, which curl can do nothing with. */
export function curlLine(operation: Listed, origin: string): string | undefined {
  const { method, path, parameters = [], requestBody, security = [], responses = {} } = operation;
  if ("101" in responses) return undefined;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { example = name } = parameters.find((parameter) => parameter.name === name) ?? {};
    return encodeURIComponent(String(example));
  });
  const query = parameters
    .filter(({ in: place, required }) => place === "query" && required)
    .map(({ name, example = "" }) => `${name}=${encodeURIComponent(String(example))}`)
    .join("&");
  const words = ["curl -sS"];
  if (security.length > 0) words.push("-H @authorization");
  const posts = method === "post" && requestBody !== undefined;
  if (method !== "get" && !posts) words.push(`-X ${method.toUpperCase()}`);
  const [body] = Object.entries(requestBody?.content ?? {});
  if (body) {
    const [type, { example }] = body;
    words.push(`-H ${quoted(`Content-Type: ${type}`)}`);
    words.push(example === undefined ? "--data-binary @FILE" : `-d ${quoted(visibleJson(example))}`);
  }
  words.push(quoted(`${origin}${filled}${query && `?${query}`}`));
  return words.join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
