/** What a program on a device learns of its visitor, and what it may tell the browser. */
import { expect, it } from "vitest";
import { ownCookie, visitCookie, withoutOurs } from "../../../worker/forwarding/cookies.ts";
import { headersToProgram, headersToVisitor, originsOf } from "../../../worker/forwarding/headers.ts";

const HOST = "5173--laptop-0123456789.forward.test";
const origins = originsOf(`https://${HOST}`, 5173);

it.each<[header: string, given: string, passed: string | undefined]>([
  ["Cookie", "__Host-matrx_visit=secret", undefined],
  ["Cookie", "a=1; __host-MATRX_visit=secret; matrx_session_8787=secret; b=2", "a=1; b=2"],
  ["Origin", `https://${HOST}`, "http://localhost:5173"],
  ["Origin", "https://other.example", "https://other.example"],
  ["Referer", `https://${HOST}/a?b=1`, "http://localhost:5173/a?b=1"],
  ["Referer", `https://${HOST}.evil.example/`, `https://${HOST}.evil.example/`],
  ["Host", HOST, undefined],
  ["X-Forwarded-For", "192.0.2.1", undefined],
  ["CF-Connecting-IP", "192.0.2.1", undefined],
  ["Connection", "keep-alive", undefined],
  ["Expect", "100-continue", undefined],
  ["Authorization", "Basic YTpi", "Basic YTpi"],
])("of a request: %s: %s", (name, given, passed) => {
  const headers = new Map(headersToProgram(new Headers({ [name]: given }), origins));
  expect(headers.get(name.toLowerCase())).toBe(passed);
  expect(headers.get("x-forwarded-host")).toBe(HOST);
  expect(headers.get("x-forwarded-proto")).toBe("https");
});

it.each<[header: string, given: string, passed: string | null]>([
  ["Location", "http://localhost:5173/a", `https://${HOST}/a`],
  ["Location", "http://127.0.0.1:5173", `https://${HOST}`],
  ["Location", "http://[::1]:5173?a", `https://${HOST}?a`],
  ["Location", "https://localhost:5173/a", `https://${HOST}/a`],
  ["Location", "//localhost:5173/a", `https://${HOST}/a`],
  ["Location", "http://localhost/a", "http://localhost/a"],
  ["Location", "http://localhost:51730/a", "http://localhost:51730/a"],
  ["Location", "http://localhost:5173@evil.example/", "http://localhost:5173@evil.example/"],
  ["Location", "/a", "/a"],
  ["Access-Control-Allow-Origin", "http://localhost:5173", `https://${HOST}`],
  ["Set-Cookie", "a=1; domain=.forward.test; Path=/; HttpOnly", "a=1; Path=/; HttpOnly"],
  ["Set-Cookie", "a=1; DOMAIN = x;Domain", "a=1"],
  ["Set-Cookie", "__Host-matrx_visit=stolen; Path=/; Secure", null],
  ["Set-Cookie", " __HOST-matrx_visit=stolen", null],
  ["Clear-Site-Data", '"*"', null],
  ["Clear-Site-Data", '"storage", "cookies"', '"storage"'],
  ["Strict-Transport-Security", "max-age=1", null],
  ["Alt-Svc", "clear", null],
  ["Service-Worker-Allowed", "/", null],
  ["Keep-Alive", "timeout=5", null],
  ["Content-Security-Policy", "default-src 'self'", "default-src 'self'"],
])("of a response: %s: %s", (name, given, passed) => {
  expect(headersToVisitor([[name, given]], origins).get(name)).toBe(passed);
});

it("a program at port 80 may leave out its port", () => {
  const at80 = originsOf(`https://${HOST}`, 80);
  const moved = (url: string) => headersToVisitor([["Location", url]], at80).get("Location");
  for (const url of ["http://localhost/a", "http://localhost:80/a", "//127.0.0.1/a"])
    expect(moved(url)).toBe(`https://${HOST}/a`);
  for (const url of ["https://localhost/a", "http://localhost.evil.example/", "http://localhost:8080/"])
    expect(moved(url)).toBe(url);
});

it("cookies of the program are left as they are", () => {
  expect(withoutOurs("a=b=c; matrx=1")).toBe("a=b=c; matrx=1");
  expect(ownCookie("a=matrx_; Max-Age=1; SameSite=None; Secure; Partitioned")).toBe(
    "a=matrx_; Max-Age=1; SameSite=None; Secure; Partitioned",
  );
  expect(ownCookie("=matrx_visit=x")).toBe(undefined);
});

it("the visit's own cookie is for its host alone", () => {
  const secret = { account: "owner", grant: "grant_1", secret: "s" } as never;
  expect(visitCookie(origins.visitor, secret, 60)).toBe(
    "__Host-matrx_visit=owner.grant_1.s; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure",
  );
});
