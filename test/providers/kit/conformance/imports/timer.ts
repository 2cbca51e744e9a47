/** A module that starts a timer when it is imported. */
export const timer = setInterval(() => {}, 60_000);
