/** For scripts/ci-tests.ts: writes the results of a run to the file that MATRX_TEST_RESULTS names, if it names one. */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule, TestSpecification } from "vitest/node";
import { type FileResult, type RunResult, type TestResult, WHOLE_FILE } from "../../scripts/ci/verdict.ts";

/** Longer is no error's output, in characters. */
const CLIP = 3000;

export default class ResultReporter implements Reporter {
  readonly #path = process.env.MATRX_TEST_RESULTS;
  #specifications: readonly TestSpecification[] = [];
  readonly #began = new Map<string, number>();
  readonly #ended = new Map<string, number>();

  constructor() {
    // A run of vitest inside a test has results of its own.
    delete process.env.MATRX_TEST_RESULTS;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#specifications = specifications;
  }

  onTestModuleQueued(module: TestModule): void {
    this.#began.set(module.id, Date.now());
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended.set(module.id, Date.now());
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    if (this.#path === undefined) return;
    const paths = new Set(this.#specifications.map(({ moduleId }) => moduleId));
    const isStray = (error: SerializedError) => !paths.has(String(error.VITEST_TEST_PATH));
    const run: RunResult = {
      files: this.#specifications.map((specification) => this.#resultOf(specification, errors)),
      stray: errors.filter(isStray).map((error) => clipped(textOf(error))),
    };
    writeFileSync(this.#path, JSON.stringify(run));
  }

  #resultOf(specification: TestSpecification, errors: readonly SerializedError[]): FileResult {
    const { moduleId, project, testModule: module } = specification;
    const tests = module ? testsOf(module) : [];
    const outside = errors.filter((error) => error.VITEST_TEST_PATH === moduleId).map(textOf);
    outside.push(...(module ? errorsOutsideTests(module) : []));
    const isAtEnd = ["passed", "failed", "skipped"].includes(module?.state() ?? "");
    if (!isAtEnd && outside.length === 0) outside.push("The file did not run to its end.");
    if (outside.length > 0) {
      tests.push({ id: moduleId, name: WHOLE_FILE, state: "failed", output: clipped(outside.join("\n")) });
    }
    const ended = this.#ended.get(module?.id ?? "") ?? Date.now();
    const began = this.#began.get(module?.id ?? "") ?? ended;
    const file = relative(project.vitest.config.root, moduleId);
    return { project: project.name, file, tests, began, ended };
  }
}

/** Errors of loading and of hooks, which belong to no test. */
function errorsOutsideTests(module: TestModule): string[] {
  return [module, ...module.children.allSuites()].flatMap((suite) => suite.errors().map(textOf));
}

/** Tests that did not end are left out: their file failed as a whole. */
function testsOf(module: TestModule): TestResult[] {
  return [...module.children.allTests()].flatMap((test): TestResult[] => {
    const { state, errors = [] } = test.result();
    const name = stripVTControlCharacters(test.fullName).replaceAll(/\s+/g, " ");
    if (state === "pending") return [];
    const output = state === "failed" ? { output: clipped(errors.map(textOf).join("\n")) } : {};
    return [{ id: test.id, name, state, ...output }];
  });
}

/** Message, differences and the place of an error, and what caused it. */
function textOf(error: SerializedError): string {
  const { name = "Error", message, diff, stacks: [place] = [], cause } = error;
  const parts = [`${name}: ${message}`];
  if (typeof diff === "string") parts.push(diff);
  if (place) parts.push(`  at ${relative(process.cwd(), place.file)}:${place.line}:${place.column}`);
  if (cause) parts.push(`Caused by ${textOf(cause)}`);
  return stripVTControlCharacters(parts.join("\n"));
}

function clipped(text: string): string {
  return text.length > CLIP ? `${text.slice(0, CLIP)} ...` : text;
}
