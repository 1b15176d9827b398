/** The page for a request that is refused before anybody is asked. It leads nowhere by itself: anyone can write such a request. */
import { AuthorizationError } from "@cloudflare/workers-oauth-provider";
import { MatrxError } from "@matrx/shared/errors.ts";
import { PAGE_HEADERS } from "@matrx/shared/pages.ts";

/** Throws what is no refusal. */
export function errorPage(error: unknown): Response {
  const { title, text, back } = told(error);
  const link = back && `<p><a href="${escaped(back)}">Back to ${escaped(new URL(back).host)}</a></p>`;
  return new Response(page(title, `<p>${escaped(text)}</p>${link ?? ""}`), {
    status: 400,
    headers: { "Content-Type": "text/html; charset=utf-8", ...PAGE_HEADERS, "Cache-Control": "no-store" },
  });
}

function told(error: unknown): { title: string; text: string; back?: string | undefined } {
  const title = "This app can't be connected";
  if (error instanceof AuthorizationError) {
    const { code, description, redirectTo } = error;
    const back = redirectTo !== undefined && /^https?:/i.test(redirectTo) ? redirectTo : undefined;
    return { title, text: `Its request is wrong: ${description} (${code}).`, back };
  }
  if (!(error instanceof MatrxError)) throw error;
  return { title, text: `${error.message}. ${error.hint ?? ""}` };
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Matrx Relay</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/refused.css">
  </head>
  <body>
    <main><h1>${title}</h1>${content}</main>
  </body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
