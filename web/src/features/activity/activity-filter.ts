/** Which calls the activity page shows: each choice is an address. */
export const ACTIVITY_FILTERS = ["all", "needs-you", "running", "errors"] as const;
export type ActivityFilter = (typeof ACTIVITY_FILTERS)[number];
