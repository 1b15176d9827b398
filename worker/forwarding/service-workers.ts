/**
 * Service workers of visited programs. A browser keeps one longer than a visit lasts, and shows it each address of its
 * folder before it asks for it. One of the whole host would have the codes of later links before they are used.
 */

/** Whether the script would be one. Its folder is as far as it can see without `Service-Worker-Allowed`, which is not passed on. */
export function isOfWholeHost({ headers, url }: Request): boolean {
  return headers.has("Service-Worker") && new URL(url).pathname.lastIndexOf("/") === 0;
}
