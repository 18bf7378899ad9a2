// What can be chosen instead of a figure of the ranks.

/** Nothing is shown. */
export const NONE = "none";
/** The layout's own value. */
export const OWN = "layout";
