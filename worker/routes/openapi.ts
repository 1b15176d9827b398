/** The OpenAPI document: generated on first request, then cached as text. */
import { openApiSchema } from "@matrx/shared/openapi/bodies.ts";
import type { Surface } from "@matrx/shared/openapi/operation.ts";
import type { RelayRoute } from "../route.ts";

export function descriptionRoute(surface: () => Surface): RelayRoute {
  let text: Promise<string> | undefined;
  return {
    method: "GET",
    path: "/openapi.json",
    id: "getDescription",
    tag: "Relay",
    summary: "This description",
    access: "anyone",
    answers: { 200: { description: "OpenAPI 3.1", schema: openApiSchema } },
    answer: async (c) => {
      text ??= textOf(surface());
      c.header("Content-Type", "application/json");
      c.header("Cache-Control", "no-cache");
      return c.body(await text);
    },
  };
}

/** Loaded lazily, so that converting the schemas does not slow down the start. */
async function textOf(surface: Surface): Promise<string> {
  const { openApiDocument } = await import("@matrx/shared/openapi/document.ts");
  return JSON.stringify(openApiDocument(surface));
}
