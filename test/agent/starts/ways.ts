/** The ways in which the agent starts programs of its user. */
export const WAYS = ["job", "confined-job", "terminal", "confined-terminal", "application", "mount"] as const;
