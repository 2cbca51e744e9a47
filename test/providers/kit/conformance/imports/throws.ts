/** A module that throws when it is imported. */
if (Date.now() > 0) throw new Error('there is no licence for this provider');
export const never = true;
