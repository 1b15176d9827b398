/** Reads files by REST, several at a time, and throws the answers away. */
import { Agent, request } from "node:http";
import type { OurRelay } from "../variants/ours.ts";

interface Reading {
  file: string;
  reads: number;
  atOnce: number;
}

export async function readByRest(
  { port, token }: OurRelay,
  device: string,
  { file, reads, atOnce }: Reading,
): Promise<{ bytes: number; failed: string[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const failed: string[] = [];
  let bytes = 0;
  let begun = 0;
  const readOnce = () =>
    new Promise<void>((resolve, reject) => {
      const path = `/v1/devices/${device}/tools/Read`;
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const asking = request({ agent, port, path, headers, method: "POST" }, (response) => {
        if (response.statusCode !== 200) failed.push(`HTTP ${response.statusCode}`);
        response.on("data", (piece: Buffer) => {
          bytes += piece.length;
        });
        response.on("end", resolve).on("error", reject);
      });
      asking.on("error", reject).end(JSON.stringify({ file_path: file }));
    });
  const lane = async () => {
    while (begun++ < reads) await readOnce();
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  agent.destroy();
  return { bytes, failed };
}
