/** What a visitor is told instead of the program's page. Plain text: no page of the relay's is on such a host. */

import type { RestAnswer } from "@matrx/shared/caller/port.ts";
import { answerResponse } from "@matrx/shared/caller/tools.ts";
import { problemOf } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { errorShapeOf } from "../problem.ts";

const HEADERS = {
  "Content-Type": "text/plain; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
} as const;

export function told(status: number, ...lines: string[]): Response {
  return new Response(`${lines.join("\n")}\n`, { status, headers: HEADERS });
}

export function notVisiting(): Response {
  return told(
    401,
    "This page needs a link that has not been used, or the visit has ended.",
    "Make a new one where you are signed in: matrx open DEVICE PORT",
  );
}

export function toldError(error: unknown): Response {
  const shape = errorShapeOf(error);
  return told(problemOf(shape).status, shape.message, ...(shape.hint ? [shape.hint] : []));
}

const problemSchema = z.object({
  detail: z.string().optional(),
  title: z.string().optional(),
  hint: z.string().optional(),
});

/** Why a call did not become an exchange. */
export async function toldAnswer(answer: RestAnswer, device: string): Promise<Response> {
  if (answer.kind === "pending")
    return told(503, "A person must allow this first", "Decide, then load the page again");
  const response = await answerResponse({ device }, answer, undefined);
  const { detail, title = "The device can't be asked", hint } = problemSchema.parse(await response.json());
  // The program is down or slow, not the relay.
  return told(response.status, detail ?? title, ...(hint ? [hint] : []));
}
