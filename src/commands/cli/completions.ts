/** The words that a shell can complete, in a flat list by command. */

export interface Word {
  readonly word: string;
  readonly about: string;
}

/** The values of an option or argument: words, `connections` of the configuration, `files`, or `any` text. */
export type Values = readonly string[] | 'connections' | 'files' | 'any';

export interface Completion {
  /** The words of the command, such as `review list`; empty for the program. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly values: Values | undefined })[];
  /** The values of each argument in turn; the last one may repeat. */
  readonly args: readonly { readonly values: Values; readonly isMany: boolean }[];
}
