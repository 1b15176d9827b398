import { homedir } from "node:os";
import { join } from "node:path";
import { makeGrantId, makeSessionId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { Sessions } from "../../../agent/core/sessions.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

describe("a session", () => {
  it("is the same for the same grant and id, and another for another grant", () => {
    const sessions = new Sessions({ workspace: "/start" });
    const [mine, other] = [{ id: makeGrantId() }, { id: makeGrantId() }];
    const id = makeSessionId();
    const session = sessions.open(id, mine);
    session.cwd = "/moved";
    expect(sessions.open(id, mine)).toBe(session);
    expect(sessions.open(id, other).cwd).toBe("/start");
  });

  it("begins in the first folder of its grant that is there, else where all begin", () => {
    const sessions = new Sessions({ workspace: "/start" });
    const beginning = (paths: string[]) => sessions.open(undefined, { id: makeGrantId(), paths }).cwd;
    const [folder, file] = [temporaryFolder(), import.meta.filename];
    expect(beginning([join(folder, "gone"), file, folder, "/"])).toBe(folder);
    expect(beginning(["~"])).toBe(homedir());
    expect(beginning([join(folder, "gone")])).toBe("/start");
    expect(beginning([])).toBe("/start");
  });

  it("is fresh and not kept without an id", () => {
    const sessions = new Sessions();
    const grant = { id: makeGrantId() };
    expect(sessions.open(undefined, grant)).not.toBe(sessions.open(undefined, grant));
    expect(sessions.size).toBe(0);
  });

  it("is forgotten when unused for long, when its grant has too many, or has ended", () => {
    let now = 0;
    const sessions = new Sessions({ keptMs: 100, mostPerGrant: 3, now: () => now });
    const grant = { id: makeGrantId() };
    const ids = Array.from({ length: 10 }, makeSessionId);
    for (const id of ids) sessions.open(id, grant);
    expect(sessions.size).toBeLessThanOrEqual(4);
    const last = sessions.open(ids[9], grant);
    now = 90;
    expect(sessions.open(ids[9], grant)).toBe(last);
    now = 180;
    expect(sessions.open(ids[9], grant)).toBe(last);
    expect(sessions.size).toBe(1);
    now = 300;
    expect(sessions.open(ids[9], grant)).not.toBe(last);
    sessions.endGrant(grant.id);
    expect(sessions.size).toBe(0);
  });

  it("has an id of 16 hex digits", () => {
    expect(() => new Sessions().open("../other", { id: makeGrantId() })).toThrow("not a session's id");
  });

  it("remembers a bounded number of files and cursors", () => {
    const session = new Sessions().open(undefined, { id: makeGrantId() });
    const seen = (size: number) => ({
      stat: { ino: 1n, size: BigInt(size), mtimeNs: 0n },
      sha256: undefined,
    });
    for (let i = 0; i < 3000; i++) session.noteSeen(`/file-${i}`, seen(i));
    expect(session.seen("/file-0")).toBeUndefined();
    expect(session.seen("/file-2999")).toEqual(seen(2999));
    expect(session.cursorOf("job_none", "call")).toBe(0);
  });
});
