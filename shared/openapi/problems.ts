/** Errors in an OpenAPI document: one answer for each status, with the codes that it may carry. */
import { problemSchema } from "../api.ts";
import { type ErrorCode, errorInfo } from "../errors.ts";
import type { Components, JsonSchema } from "./components.ts";

const CHALLENGE = { description: "How to sign in (RFC 6750)", schema: { type: "string" } };
const RETRY_AFTER = { description: "Seconds to wait before trying again", schema: { type: "string" } };

export class Problems {
  readonly #components: Components;
  readonly #used = new Map<string, JsonSchema>();

  constructor(components: Components) {
    this.#components = components;
  }

  /** References to the answers of these codes, by status. */
  of(codes: Iterable<ErrorCode>): Record<string, JsonSchema> {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of [...new Set(codes)].sort()) {
      const { status } = errorInfo(code);
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    const answers = [...byStatus].map(([status, list]) => [status, this.#reference(status, list)]);
    return Object.fromEntries(answers);
  }

  all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #reference(status: number, codes: readonly ErrorCode[]): JsonSchema {
    const name = codes.join(".");
    if (!this.#used.has(name)) this.#used.set(name, this.#answer(status, codes));
    return { $ref: `#/components/responses/${name}` };
  }

  #answer(status: number, codes: readonly ErrorCode[]): JsonSchema {
    const problem = this.#components.of(problemSchema, "output");
    const headers = {
      ...(status === 401 && { "WWW-Authenticate": CHALLENGE }),
      ...(status === 429 && { "Retry-After": RETRY_AFTER }),
    };
    return {
      description: codes.map((code) => `\`${code}\`: ${errorInfo(code).title}`).join(". "),
      ...(Object.keys(headers).length > 0 && { headers }),
      content: {
        "application/problem+json": { schema: problem },
      },
    };
  }
}
