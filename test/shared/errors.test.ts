import {
  ERROR_CODES,
  type ErrorShape,
  errorInfo,
  isErrorCode,
  MatrxError,
  problemOf,
  shapeOf,
} from "@matrx/shared/errors.ts";
import { describe, expect, it } from "vitest";

const FULL: ErrorShape = {
  code: "INVALID_PARAMETERS",
  message: "path: must be absolute",
  hint: "Send an absolute path",
  hop: "agent",
  details: { field: "path" },
};

describe("the codes", () => {
  it("have those of the device document", () => {
    const document = [
      "INVALID_MESSAGE",
      "UNKNOWN_DEVICE",
      "PERMISSION_DENIED",
      "TOOL_NOT_FOUND",
      "TOOL_EXECUTION_FAILED",
      "TIMEOUT",
      "INVALID_PARAMETERS",
    ];
    expect(document.filter((code) => !isErrorCode(code))).toEqual([]);
  });

  it.each(ERROR_CODES)("%s has an HTTP error status, an exit code, a title", (code) => {
    const { status, exit, title } = errorInfo(code);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(exit).toBeGreaterThan(0);
    expect(exit).toBeLessThan(256);
    expect(title).toMatch(/^[A-Z]/);
  });

  it.each(["toString", "__proto__", "constructor", "", "invalid_message", undefined, 1])(
    "have no %j",
    (code) => {
      expect(isErrorCode(code)).toBe(false);
    },
  );
});

describe("an error's outside", () => {
  it("is what it was made of", () => {
    expect(new MatrxError(FULL).shape()).toEqual(FULL);
    expect(shapeOf(new MatrxError(FULL), "relay", "x")).toEqual(FULL);
  });

  it("names no field that there is not", () => {
    const shape = new MatrxError({ code: "TIMEOUT", message: "late", hop: "relay" }).shape();
    expect(Object.keys(shape).sort()).toEqual(["code", "hop", "message"]);
  });

  it.each([
    new Error("secret at /home/ann/.ssh"),
    new TypeError("x"),
    "secret",
    null,
    undefined,
    { code: "TIMEOUT" },
  ])("of a stranger (%s) tells nothing but a number to look for", (error) => {
    const shape = shapeOf(error, "agent", "4f2a");
    expect(shape).toMatchObject({ code: "INTERNAL", hop: "agent", details: { incident: "4f2a" } });
    expect(JSON.stringify(shape)).not.toMatch(/secret|ssh|stack/);
    expect(shape.hint).toContain("4f2a");
  });

  it("keeps its cause inside", () => {
    const error = new MatrxError(FULL, new Error("secret"));
    expect(error.cause).toBeInstanceOf(Error);
    expect(JSON.stringify(error.shape())).not.toContain("secret");
  });
});

describe("problem details", () => {
  it("have the members of RFC 9457, ours, and the details", () => {
    expect(problemOf(FULL)).toEqual({
      type: "urn:matrx:error:INVALID_PARAMETERS",
      title: "Invalid parameter",
      status: 400,
      detail: "path: must be absolute",
      code: "INVALID_PARAMETERS",
      hint: "Send an absolute path",
      hop: "agent",
      field: "path",
    });
  });
});
