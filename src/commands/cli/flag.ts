const kebab = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** The flag of an option by its key: `dryRun` is `--dry-run`. */
export const flagOf = (name: string): string => `--${kebab(name)}`;

/** The word for an argument in help, by its key: `entityId` is `entity-id`. */
export const argumentWord = kebab;
