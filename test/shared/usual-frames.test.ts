/** The short ways round the schemas: what they take, the schema takes too, and reads the same. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { callSchema, parseCallerFrame } from "../../shared/caller/from-caller.ts";
import { decodeAgentFrame, encodeResultFrame, resultHeaderSchema } from "../../shared/result-frame.ts";

const oddValue = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.integer(),
  fc.constant(null),
  fc.array(fc.integer()),
  fc.dictionary(fc.string(), fc.jsonValue()),
);

it("reads any call as the schema does", () => {
  const frame = fc.record(
    {
      id: fc.oneof(fc.string({ maxLength: 140 }), oddValue),
      tool: fc.oneof(fc.string({ maxLength: 140 }), oddValue),
      input: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), oddValue),
      stream: oddValue,
      extra: oddValue,
    },
    { requiredKeys: ["tool"] },
  );
  fc.assert(
    fc.property(frame, (value) => {
      const text = JSON.stringify(value);
      const bySchema = callSchema.safeParse(JSON.parse(text));
      if (bySchema.success) expect(parseCallerFrame(text)).toEqual({ kind: "call", call: bySchema.data });
      else expect(() => parseCallerFrame(text)).toThrow();
    }),
    { numRuns: 2000 },
  );
});

it("reads any result header as the schema does", () => {
  const header = fc.record(
    {
      call: fc.oneof(fc.string({ maxLength: 80 }), oddValue),
      tool: fc.oneof(fc.string({ maxLength: 140 }), oddValue),
      status: fc.oneof(fc.constantFrom("success", "error", "cancelled"), oddValue),
      ms: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), oddValue),
      exit: oddValue,
      extra: oddValue,
    },
    { requiredKeys: ["call"] },
  );
  fc.assert(
    fc.property(header, (value) => {
      const frame = encodeResultFrame(value as never, new Uint8Array([1])).buffer;
      const bySchema = resultHeaderSchema.safeParse(JSON.parse(JSON.stringify(value)));
      if (bySchema.success)
        expect(decodeAgentFrame(frame)).toMatchObject({ kind: "result", header: bySchema.data });
      else expect(() => decodeAgentFrame(frame)).toThrow();
    }),
    { numRuns: 2000 },
  );
});
