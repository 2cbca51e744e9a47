/** YAML, and JSON as a part of it, to plain values; what people write without quotes is kept as they wrote it. */
import { isScalar, parseDocument, visit } from 'yaml';
import type { ConfigProblem } from './fill.ts';

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly errors: readonly ConfigProblem[] };

/**
 * Parses a configuration file. Codes such as `011100` are texts here although YAML takes them for numbers:
 * a number that does not print as it was written, and every key, stays a text. Errors carry line and column,
 * never the line itself.
 */
export function parseConfig(text: string): Parsed {
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { merge: true, prettyErrors: true, logLevel: 'silent' });
  // What follows the first is mostly its consequence: one slip, one message.
  const errors = document.errors.slice(0, 1).map((error): ConfigProblem => {
    const at = error.linePos?.[0];
    const where = at === undefined ? '' : `line ${at.line}, column ${at.col}`;
    const [message = ''] = error.message.split(/ at line \d+|:?\n/, 1);
    return { path: where, message: `not valid YAML: ${message}` };
  });
  if (errors.length > 0) return { ok: false, errors };
  visit(document, {
    Scalar: (key, node) => {
      if (typeof node.value !== 'number' || node.source === undefined) return;
      if (key === 'key' || String(node.value) !== node.source) node.value = node.source;
    },
    Pair: (_key, pair) => {
      if (isScalar(pair.key) && typeof pair.key.value !== 'string')
        pair.key.value = String(pair.key.source ?? pair.key.value);
    },
  });
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { ok: false, errors: [{ path: '', message: error instanceof Error ? error.message : String(error) }] };
  }
}
