/** Sentences with places for values: what a text holds in the places of one. */

const PLACE = /\{(\w+)\}/gu;

/** What stands around the places of a sentence, and their names. */
export interface Sentence {
  readonly around: readonly string[];
  readonly names: readonly string[];
  readonly da: string;
}

/**
 * Divides a sentence in English, with its Danish, at its places: `{name}` stands for a value, which may be a sentence of
 * the table itself.
 */
export function readSentence([en, da]: readonly [en: string, da: string]): Sentence {
  const parts = en.split(PLACE);
  return {
    around: parts.filter((_, index) => index % 2 === 0),
    names: parts.filter((_, index) => index % 2 === 1),
    da,
  };
}

/** What some places may hold, so that the words of others are not taken for a sentence of ours. */
const FITS: Readonly<Record<string, RegExp>> = {
  count: /^\d+$/u,
  status: /^\d{3}$/u,
  /** With the kind of its fault before it, as an attempt keeps it. */
  call: /^(?:[a-z-]+: )?[A-Z]+ \S+$/u,
  account: /^(?:The monitoring service|\S+|\S+ \(\S+\))$/u,
};

/** The values in the places; undefined if the text is another sentence. */
export function valuesIn(text: string, { around, names }: Sentence): ReadonlyMap<string, string> | undefined {
  const [first = '', ...following] = around;
  if (!text.startsWith(first)) return undefined;
  const values = new Map<string, string>();
  let at = first.length;
  for (const [index, part] of following.entries()) {
    const isLast = index === following.length - 1;
    const end = isLast ? (text.endsWith(part) ? text.length - part.length : -1) : text.indexOf(part, at + 1);
    if (end <= at) return undefined;
    const [name = '', value] = [names[index], text.slice(at, end)];
    if (FITS[name]?.test(value) === false) return undefined;
    values.set(name, value);
    at = end + part.length;
  }
  return at === text.length ? values : undefined;
}

/** The Danish sentence with these values. */
export const filled = ({ da }: Sentence, toValue: (name: string) => string): string =>
  da.replaceAll(PLACE, (_, name: string) => toValue(name));
