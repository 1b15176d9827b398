/** An OpenAPI 3.1 document from a surface's table of operations and the zod schemas that its routes use. */
import { Components, type JsonSchema } from "./components.ts";
import type { Access, Answer, Operation, Parameter, Surface } from "./operation.ts";
import { Problems } from "./problems.ts";

interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, JsonSchema>>;
  components: Record<string, unknown>;
}

/** Who may call, as a sentence after the description. */
const WHO: Readonly<Record<Access, string>> = {
  anyone: "No credential is needed.",
  secret: "No credential is needed except the one in the body.",
  device: "For the machine itself, which sends its credential in its first message.",
  caller: "",
  person:
    "Requires a signed-in person (on the page or with `matrx login`); tokens, of scripts and of AIs, are refused with 403.",
};

export function openApiDocument(surface: Surface): OpenApiDocument {
  const components = new Components(surface.schemas);
  const problems = new Problems(components);
  const paths: OpenApiDocument["paths"] = {};
  for (const operation of surface.operations) {
    paths[operation.path] ??= {};
    Object.assign(paths[operation.path] ?? {}, {
      [operation.method.toLowerCase()]: described(operation, surface, components, problems),
    });
  }
  return {
    openapi: "3.1.1",
    info: { title: surface.title, version: surface.version, description: surface.description },
    // Relative to the URL of the document, whatever proxy is in front.
    servers: [{ url: "/" }],
    tags: Object.entries(surface.tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: surface.security,
      responses: problems.all(),
      schemas: components.all(),
    },
  };
}

function described(
  operation: Operation,
  surface: Surface,
  components: Components,
  problems: Problems,
): JsonSchema {
  const { id, tag, summary, description = "", access, body, bytes, answers, errors = [] } = operation;
  const parameters = parametersOf(operation, surface, components);
  const needsCredential = access === "caller" || access === "person";
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, WHO[access]].filter(Boolean).join(" "),
    security: needsCredential ? Object.keys(surface.security).map((name) => ({ [name]: [] })) : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: {
          "application/json": { schema: components.of(body.schema, "input"), example: body.example },
        },
      },
    }),
    ...(bytes && {
      requestBody: {
        required: false,
        content: Object.fromEntries(
          Object.entries(bytes).map(([type, description]) => [
            type,
            { schema: { type: "string", description } },
          ]),
        ),
      },
    }),
    // An operation's own answer overrides the usual problem of that status.
    responses: {
      ...problems.of([...surface.implied(operation), ...errors]),
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, success(answer, components)]),
      ),
    },
  };
}

function parametersOf(operation: Operation, surface: Surface, components: Components): JsonSchema[] {
  const inPath = Array.from(operation.path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => {
    const parameter = surface.path[name];
    if (!parameter) throw new Error(`${operation.path}: nothing says what {${name}} is`);
    return parameterOf(name, "path", { ...parameter, required: true }, components);
  });
  const named = (where: string, list: Operation["query"] = {}) =>
    Object.entries(list).map(([name, parameter]) => parameterOf(name, where, parameter, components));
  return [...inPath, ...named("query", operation.query), ...named("header", operation.headers)];
}

function parameterOf(
  name: string,
  where: string,
  { schema, description, required = false, example }: Parameter,
  components: Components,
): JsonSchema {
  return {
    name,
    in: where,
    required,
    description,
    schema: components.of(schema, "input"),
    ...(example !== undefined && { example }),
  };
}

function success({ description, schema, example, other = {}, headers }: Answer, components: Components) {
  const content = {
    ...(schema && {
      "application/json": {
        schema: components.of(schema, "output"),
        ...(example !== undefined && { example }),
      },
    }),
    ...Object.fromEntries(
      Object.entries(other).map(([type, what]) => [
        type,
        {
          schema:
            typeof what === "string" ? { type: "string", description: what } : components.of(what, "output"),
        },
      ]),
    ),
  };
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [
          name,
          {
            description: header.description,
            ...(header.required && { required: true }),
            schema: components.of(header.schema, "output"),
          },
        ]),
      ),
    }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}
