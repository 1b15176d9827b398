/** A certificate authority of somebody's own, made by openssl, and what it signs. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];

export interface Authority {
  /** The file of its own certificate. */
  readonly file: string;
  /** A key and a certificate for these names. */
  sign(...names: string[]): { key: Buffer; cert: Buffer };
}

export function makeAuthority(folder: string): Authority {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  openssl("req", "-x509", ...KEY, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Home CA");
  return {
    file: join(folder, "ca.pem"),
    sign(...names) {
      const file = (ending: string) => `${names[0]}.${ending}`;
      const subject = ["-subj", `/CN=${names[0]}`];
      openssl("req", "-new", ...KEY.slice(0, -2), "-keyout", file("key"), "-out", file("csr"), ...subject);
      writeFileSync(
        join(folder, file("ext")),
        `subjectAltName=${names.map((name) => `${/^[\d.]+$/.test(name) ? "IP" : "DNS"}:${name}`).join(",")}\n`,
      );
      const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
      openssl("x509", "-req", "-in", file("csr"), ...by, "-extfile", file("ext"), "-out", file("crt"));
      return {
        key: readFileSync(join(folder, file("key"))),
        cert: readFileSync(join(folder, file("crt"))),
      };
    },
  };
}
