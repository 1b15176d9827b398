/** What a model is told of its sandbox where a command's output looks like a fault of the machine. */
import { describe, expect, it } from "vitest";
import type { SandboxRules } from "../../../agent/sandbox/rules.ts";
import { sandboxNote } from "../../../agent/sandbox/sandbox-note.ts";

const rules = (more: Partial<SandboxRules> = {}) =>
  ({
    ...{ readable: ["/usr", "/etc/hosts", "/home/ann/site"], writable: ["/home/ann/site/out"] },
    ...{ granted: ["/home/ann/site"], network: [], hidden: [] },
    ...more,
  }) as unknown as SandboxRules;

describe("a command without a network", () => {
  it.each([
    "curl: (6) Could not resolve host: example.com",
    "ping: example.com: Temporary failure in name resolution",
    "npm error code EAI_AGAIN",
    "Error: getaddrinfo ENOTFOUND example.com",
    "connect: Network is unreachable",
    "socket.gaierror: [Errno -2] Name or service not known",
  ])("that says %j is told that none is open", (output) => {
    expect(sandboxNote(output, rules())).toBe("This grant opens no domains: its commands reach no network");
  });

  it("is told which domains are open, if some are", () => {
    const network = ["a.example", "b.example"];
    expect(sandboxNote("curl: (56) CONNECT tunnel failed, response 403", rules({ network }))).toBe(
      "This grant opens only these domains, by HTTP: a.example, b.example",
    );
  });
});

describe("a command that finds no file", () => {
  const told = (path: string) =>
    `${path} is not here, whether or not the machine has it: commands of this grant see only the system's programs and /home/ann/site`;

  it.each([
    ["ls: cannot access '/home/ann/mail': No such file or directory", "/home/ann/mail"],
    ["bash: line 1: cd: /srv/data: No such file or directory", "/srv/data"],
    ["cat: /home/ann/.ssh/id: No such file or directory\ndone", "/home/ann/.ssh/id"],
    ["Error: ENOENT: no such file or directory, open '/opt/x'", "/opt/x"],
    ["/bin/sh: 1: cd: can't cd to /home/ann/site-2", "/home/ann/site-2"],
  ])("where %j is told what it sees", (output, path) => {
    expect(sandboxNote(output, rules())).toBe(told(path));
  });

  it("that an earlier command left in /tmp is told that each has its own", () => {
    expect(sandboxNote("cat: /tmp/x: No such file or directory", rules())).toBe(
      "/tmp/x is not here: /tmp is empty for each command",
    );
  });

  it.each([
    "ls: cannot access '/home/ann/site/gone': No such file or directory",
    "cat: gone.txt: No such file or directory",
    "bash: /usr/bin/nothing: No such file or directory",
    "all is well in /home/ann/mail",
    "",
  ])("is told nothing where the sandbox is not why: %j", (output) => {
    expect(sandboxNote(output, rules())).toBeUndefined();
  });
});
