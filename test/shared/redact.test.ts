import { expect, test } from "vitest";
import { previewOf } from "../../shared/redact.ts";

test.each([
  ["curl -H 'Authorization: Bearer abcdefghijklmnop'", "abcdefghijklmnop"],
  ["GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz012345", "ghp_abc"],
  ["DATABASE_URL=postgres://me:hunter2hunter2@db/x", "hunter2"],
  ["password: correct-horse", "correct-horse"],
  ['{"api_key": "zzzzyyyyxxxx"}', "zzzzyyyyxxxx"],
  ["eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJ4In0.abc", "eyJhbGci"],
  ["-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA", "MC4CAQ"],
  ["restic --password hunter2hunter2 backup", "hunter2"],
  ["tool --github-token 'abcdef123456' run", "abcdef"],
  ["authorization: basic dXNlcjpwYXNzd29yZA==", "dXNlcjpw"],
  ["slack xoxb-123456789012-abcdef", "123456789012"],
  ["maps AIzaSyA1234567890abcdefghij", "SyA1234"],
  ["glpat-abcdefghijklmnopqrst", "abcdefgh"],
  ["sk-abcdefghijklmnopqrstuv", "abcdefgh"],
  ["Set-Cookie: sid=abcdefgh", "abcdefgh"],
  ["credentials=abcdefgh", "abcdefgh"],
  ["AWS AKIAABCDEFGHIJKLMNOP here", "AKIAABCDEFGHIJKLMNOP"],
])("is not shown: %s", (text, secret) => {
  const preview = previewOf(text);
  expect(preview).toContain("[redacted]");
  expect(preview).not.toContain(secret);
});

test("a secret across the cut is not shown in part", () => {
  const preview = previewOf(`${"x".repeat(490)} token=abcdefghijklmnop`);
  expect(preview).not.toContain("abcd");
  expect(preview.length).toBeLessThanOrEqual(500);
});

test("plain text stays", () => {
  expect(previewOf("total 48\n-rw-r--r-- notes.txt")).toBe("total 48\n-rw-r--r-- notes.txt");
});
