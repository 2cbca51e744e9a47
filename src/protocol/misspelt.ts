/** The message for a text that does not match the pattern of its schema. The pattern itself would not help people. */

interface Described {
  readonly description?: unknown;
  readonly examples?: unknown;
  readonly default?: unknown;
}

/** Shows what the text should look like: an example or the default, and the description. Quotes no given value. */
export function misspelt({ description, examples, default: preset }: Described): string {
  const [example = preset]: readonly unknown[] = Array.isArray(examples) ? examples : [];
  const what = typeof example === 'string' ? `should look like ${example}` : 'has the wrong form';
  return typeof description === 'string' ? `${what}: ${description}` : what;
}
