/** Writes a large private file. Argument: the file. */
import { writePrivateFile } from "../../../agent/platform/private-file.ts";

try {
  writePrivateFile(process.argv[2] ?? "", "x".repeat(200_000));
  console.log("written");
} catch {
  console.log("refused");
}
