/** A module that does nothing when it is imported. */
export const quiet = true;
