/** Matches texts with sentences that have placeholders, and finds the values. */

const PLACE = /\{(\w+)\}/gu;

/** The fixed parts of a sentence, and the names between them. */
export interface Sentence {
  readonly around: readonly string[];
  readonly names: readonly string[];
  readonly da: string;
}

/**
 * Splits an English sentence, with its Danish translation, at its placeholders: `{name}` stands for a value, which may
 * itself be a known sentence.
 */
export function readSentence([en, da]: readonly [en: string, da: string]): Sentence {
  const parts = en.split(PLACE);
  return {
    around: parts.filter((_, index) => index % 2 === 0),
    names: parts.filter((_, index) => index % 2 === 1),
    da,
  };
}

/** What some placeholders may hold, so that other texts do not match. */
const FITS: Readonly<Record<string, RegExp>> = {
  count: /^\d+$/u,
  status: /^\d{3}$/u,
  /** Attempts store the kind of the fault before the call. */
  call: /^(?:[a-z-]+: )?[A-Z]+ \S+$/u,
  account: /^(?:The monitoring service|\S+|\S+ \(\S+\))$/u,
};

/** The values of the placeholders; undefined if the text does not match. */
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

export const filled = ({ da }: Sentence, toValue: (name: string) => string): string =>
  da.replaceAll(PLACE, (_, name: string) => toValue(name));
