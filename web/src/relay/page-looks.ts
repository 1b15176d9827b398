/** What the app's pages ask machines by themselves, so that it can be told from what somebody wanted to know. */

/** A folder is read in pieces of so many entries: the most that the tool tells at once. */
export const FOLDER_PIECE = 5_000;

const LOOKS: Readonly<Record<string, (input: Readonly<Record<string, string>>) => boolean>> = {
  SystemInfo: (input) => Object.keys(input).length === 0,
  ListDirectory: ({ path: _, after: __, show_hidden: hidden, limit, ...rest }) =>
    limit === `${FOLDER_PIECE}` && hidden !== undefined && Object.keys(rest).length === 0,
};

/** Tells whether a call of a person's has the form of one that pages make: how loaded a machine is, or what is in a folder. */
export function isPageLook(tool: string, input: Readonly<Record<string, string>>): boolean {
  return LOOKS[tool]?.(input) ?? false;
}
