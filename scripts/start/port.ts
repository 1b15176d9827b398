/** The port to listen on. */
import { connect, createServer } from "node:net";
import { hasCode, messageOf, Problem } from "../problem.ts";

/** Finds the port: the wanted one, or a free one for 0. Throws Problem if another program has it. */
export async function findPort(wanted: number): Promise<number> {
  // A program on [::1] alone would get what is meant for us: `localhost` means both addresses.
  if (wanted !== 0 && (await answers("::1", wanted))) throw inUse(wanted);
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(problemOf(error, wanted)));
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : wanted;
      server.close(() => resolve(port));
    });
  });
}

function problemOf(error: Error, port: number): Problem {
  if (hasCode(error, "EADDRINUSE")) return inUse(port);
  if (hasCode(error, "EACCES"))
    return new Problem(`Port ${port} needs more rights: choose one above 1023 with --port.`);
  return new Problem(`Port ${port} cannot be opened (${messageOf(error)}): choose another with --port.`);
}

function inUse(port: number): Problem {
  return new Problem(
    `Port ${port} is in use by another program: stop it, or choose another port with \`npm start -- --port ${port + 1}\`.`,
  );
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 300 });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .once("connect", () => done(true))
      .once("error", () => done(false))
      .once("timeout", () => done(false));
  });
}
