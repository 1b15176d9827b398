/** The browser's own interface for tools of a page (WebMCP), where it has one. */

export interface ModelTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly untrustedContentHint: boolean;
    readonly consequentialHint: boolean;
  };
  execute(input: unknown, client?: { readonly signal?: AbortSignal }): Promise<unknown>;
}

interface ModelContext {
  /** Registered until the signal. */
  registerTool(tool: ModelTool, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** Undefined: this browser has none, or one of another form. */
export function modelContext(): ModelContext | undefined {
  const { modelContext: found } = document as { modelContext?: Partial<ModelContext> };
  return typeof found?.registerTool === "function" ? (found as ModelContext) : undefined;
}
