import { expect, test } from "vitest";
import {
  answerPreview,
  inputBeginnings,
  inputPreview,
  previewOf,
  questionPreview,
} from "../../shared/redact.ts";

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
  ['{"password":"two words301"}', "words301"],
  ['restic --passphrase "correct horse battery 96"', "horse"],
  ['export PASSWORD="pw315 more316"', "more316"],
  ["PASSWORD=pw\\ 416", "416"],
  ["psql \"host=db password='pw 423 x'\"", "423"],
  ['{"token":"Tk 304"}', "304"],
  ['{"secret":"a\\"b305"}', "b305"],
  ['{"k":"{\\"password\\":\\"pw415 x\\"}"}', "415"],
  ["Authorization: token 0123456789abcdef0123", "0123456789"],
  ["curl -H 'Authorization: Digest u=me, r=x1y2z3'", "x1y2z3"],
  ["Cookie: a=1; sid=abcdefgh", "abcdefgh"],
  ["curl -u admin:hunter2 https://x.example", "hunter2"],
  ["curl --user=admin:hunter2 x", "hunter2"],
  ["mysql -u root -phunter2 db", "hunter2"],
  ["sshpass -p hunter2 ssh x", "hunter2"],
  ["docker login -u me -p hunter2", "hunter2"],
  ["redis-cli -h db -a hunter2", "hunter2"],
  ["MYSQL_PWD=hunter2 mysqldump", "hunter2"],
  ["AccountKey=hunter2hunter2==", "hunter2"],
  ["https://x.example/f?sig=hunter2&v=1", "hunter2"],
  ["https://x.example/f?X-Amz-Signature=hunter2&v=1", "hunter2"],
  ["git clone https://0123456789abcdefTOKEN@github.com/x", "abcdefTOKEN"],
  ["https://x:pw@w0rd@h/", "w0rd"],
  ["machine h login u password hunter2", "hunter2"],
  ["hf_abcdefghijklmnopqrstuvwxyz", "abcdefgh"],
  ["SG.abcdefghijklmnop.qrstuvwxyz0123", "qrstuv"],
  ["hvs.abcdefghijklmnopqrstuvwxyz", "abcdefgh"],
  ["123456789:AAabcdefghijklmnopqrstuvwxyz012345", "abcdefgh"],
  ["https://hooks.slack.com/services/T0/B0/abcdefgh", "abcdefgh"],
  ["owner.ABCD-EFGH-0123-4567", "EFGH"],
  ['password="hunter2 \\', "hunter2"],
  ["echo hunter2 | sudo -S apt update", "hunter2"],
  ["echo -n 'hunter2 x' | sudo -kS -p '' id", "hunter2"],
  ["printf '%s\\n' hunter2 | FOO=1 sudo --stdin id", "hunter2"],
  ["echo hunter2 | docker login -u me --password-stdin", "hunter2"],
  ["echo hunter2 | gpg --batch --passphrase-fd 0 -d x", "hunter2"],
  ["echo me:hunter2 | sudo chpasswd", "hunter2"],
  ["echo hunter2 | gh auth login --with-token", "hunter2"],
  ["echo hunter2 | su -c id", "hunter2"],
  ["sudo -S id <<< hunter2", "hunter2"],
  ["sudo -S id <<< 'hunter2 x'", "hunter2"],
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

test.each([
  "total 48\n-rw-r--r-- notes.txt",
  "git commit -am 'Say what the token is for' && git push -u origin main",
  "mkdir -p src/keys && cp -a secrets.md src && docker run -u 1000 -p 8080:80 web",
  "http://localhost:8080/path and user@example.com",
  "echo $PWD; ssh -p 2222 host",
])("plain text stays: %s", (text) => {
  expect(previewOf(text)).toBe(text);
});

test("takes no longer for a text that is made to be slow", () => {
  for (const piece of ["password=\\", "--a-", "x://:", "token: '", "mysql ", "AAAA-", "authorization "]) {
    const before = performance.now();
    previewOf(piece.repeat(4000), 4000);
    expect(performance.now() - before, piece).toBeLessThan(1000);
  }
});

test.each(["echo done | tee log", "echo a | grep su", "ls | sudo tee x", "echo sudo -S", "cat x <<< y"])(
  "is shown: %s",
  (text) => expect(previewOf(text)).toBe(text),
);

test.each<[tool: string, input: Record<string, unknown>, shown: Record<string, string>]>([
  [
    "TerminalInput",
    { terminal: "term_1", text: "hunter3\n", keys: ["h"] },
    { terminal: "term_1", text: "[redacted]", keys: "[redacted]" },
  ],
  ["ClipboardWrite", { text: "hunter3" }, { text: "[redacted]" }],
  ["Bash", { command: "su", stdin_base64: "aHVudGVyMw==" }, { command: "su", stdin_base64: "[redacted]" }],
  ["Write", { file_path: "a", content: "plain" }, { file_path: "a", content: "plain" }],
])("what is typed, copied or piped by %s is secret, whatever it looks like", (tool, input, shown) => {
  expect(inputPreview(inputBeginnings(tool, input))).toEqual(shown);
});

test("what was typed or copied is not told by answers and questions either", () => {
  expect(answerPreview("TerminalInput", "$ hunter3")).toBe("[redacted]");
  expect(answerPreview("Bash", "done")).toBe("done");
  expect(questionPreview("TerminalInput", 'Type into the terminal 1, in /: "hunter3"')).toBe(
    "TerminalInput: [redacted]",
  );
  expect(questionPreview("Bash", "Run in /: ls")).toBe("Run in /: ls");
});
