/** A server's OpenAPI document, narrowed to what a test may do: which devices, which tools, which operations not. */
import * as z from "zod";

type Json = Record<string, unknown>;

const operationSchema = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).optional(),
  requestBody: z.looseObject({}).optional(),
});
export type Operation = z.infer<typeof operationSchema>;

const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
});
export type Document = z.infer<typeof documentSchema>;

/** Fetches a server's own document. */
export async function fetchDocument(url: string): Promise<Document> {
  return documentSchema.parse(await (await fetch(`${url}/openapi.json`)).json());
}

/** The document without some operations, by their ids. Throws if there is none of a name. */
export function without(document: Document, ids: readonly string[]): Document {
  const left = new Set(ids);
  const paths = mapOperations(document, (operation) =>
    left.delete(operation.operationId) ? undefined : operation,
  );
  if (left.size > 0) throw new Error(`There is no operation ${[...left].join(", ")}`);
  return { ...document, paths };
}

/** The document with parameters of a name held to these values. */
export function only(
  document: Document,
  name: string,
  valuesOf: (operation: Operation) => readonly string[],
): Document {
  const paths = mapOperations(document, (operation) => ({
    ...operation,
    parameters: operation.parameters?.map((parameter) => {
      if (parameter.name !== name) return parameter;
      const { example: _, ...rest } = parameter;
      return { ...rest, schema: { enum: valuesOf(operation) } };
    }),
  }));
  return { ...document, paths };
}

/** The document without the parameters of a name. */
export function withoutParameter(document: Document, name: string): Document {
  const paths = mapOperations(document, (operation) => ({
    ...operation,
    parameters: operation.parameters?.filter((parameter) => parameter.name !== name),
  }));
  return { ...document, paths };
}

const PATHS = /^(path|file_path|source|destination)$/;

/** A tool's input with these paths for its paths: made-up ones lead nowhere. */
export function atPaths(schema: Json, paths: readonly string[]): Json {
  const properties = Object.entries(schema.properties as Json).map(([name, property]) => [
    name,
    PATHS.test(name) ? { enum: paths } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** A tool that is called with made-up input, and with the example if there is one. */
export interface FuzzedTool {
  readonly name: string;
  readonly input_schema: Json;
  readonly example?: Json | undefined;
}

/** The document with one path more for each tool: the same operation, with the tool's own schema and no options. */
export function withTools(document: Document, path: string, tools: readonly FuzzedTool[]): Document {
  const methods = document.paths[path];
  if (!methods?.post) throw new Error(`There is no POST ${path}`);
  const paths = { ...document.paths };
  for (const { name, input_schema, example } of tools) {
    const { $schema: _, ...schema } = input_schema;
    const operation = {
      ...methods.post,
      operationId: `${methods.post.operationId}${name}`,
      parameters: methods.post.parameters?.filter((parameter) => parameter.name === "device"),
      requestBody: {
        ...methods.post.requestBody,
        content: { "application/json": { schema, ...(example && { example }) } },
      },
    };
    paths[path.replace("{tool}", name)] = { post: operation };
  }
  return { ...document, paths };
}

function mapOperations(
  { paths }: Document,
  change: (operation: Operation) => Operation | undefined,
): Document["paths"] {
  const changed: Document["paths"] = {};
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const next = change(operation);
      if (next) changed[path] = { ...changed[path], [method]: next };
    }
  }
  return changed;
}
