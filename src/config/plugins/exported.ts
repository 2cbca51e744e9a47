import { types } from 'node:util';

interface Export {
  readonly name: string;
  readonly value: unknown;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const exportsOf = (module: unknown): readonly Export[] =>
  isObject(module) ? Object.entries(module).map(([name, value]) => ({ name, value })) : [];

/** The members of the exports: a CommonJS module is its own default export. */
const membersOf = (exports: readonly Export[]): readonly Export[] =>
  exports.flatMap(({ name, value }) =>
    exportsOf(value).map((member) => ({ name: `${name}.${member.name}`, value: member.value })),
  );

/** The only export of a kind, or the default export. Throws if several qualify; `kind` is for people. */
export function exportMeant<T>(module: unknown, kind: string, is: (value: unknown) => value is T): T | undefined {
  const exports = exportsOf(module);
  const members = membersOf(exports);
  const defaults = [...exports, ...members].filter(({ name }) => name === 'default' || name === 'default.default');
  for (const level of [defaults, exports, members]) {
    const found = new Map(level.flatMap(({ name, value }) => (is(value) ? [[value, name] as const] : [])));
    const [first] = found.keys();
    if (found.size === 1) return first;
    if (found.size > 1) {
      const names = [...found.values()].join(' and ');
      throw new Error(
        `it exports ${names}, each a ${kind}: make one of them the default export, or put each in a file of its own`,
      );
    }
  }
  return undefined;
}

/** The most exports that the message mentions. */
const MOST_MISTAKES = 3;

/** The members that identify a provider. */
const MEMBERS = { name: 'string', contract: 'string', connect: 'function' };

/** The members that an object lacks, or has with another type, to be a provider; proxies count. */
export const lackingMembers = (value: object): readonly string[] =>
  Object.entries(MEMBERS).flatMap(([member, type]) => (typeof Reflect.get(value, member) === type ? [] : [member]));

/** The exports that look like an attempt at a provider, and what to do; empty if there are none. */
export function exportedInstead(module: unknown): string {
  const exports = exportsOf(module);
  const found = [exports, membersOf(exports.filter(({ name }) => name === 'default'))]
    .map((level) => [...new Map(level.map(({ name, value }) => [value, mistakeIn(name, value)])).values()])
    .map((mistakes) => mistakes.filter((mistake) => mistake !== undefined))
    .find((mistakes) => mistakes.length > 0);
  return found === undefined ? '' : `. ${found.slice(0, MOST_MISTAKES).join('; ')}`;
}

function mistakeIn(name: string, value: unknown): string | undefined {
  const its = name === 'default' ? 'Its default export' : `Its export ${name}`;
  if (typeof value === 'function')
    return isClass(value)
      ? `${its} is a class: export an instance of it`
      : `${its} is a function: export what it returns`;
  if (!isObject(value)) return undefined;
  if (types.isPromise(value)) return `${its} is a promise: await it, and export what it gives`;
  const lacking = lackingMembers(value);
  return lacking.length === Object.keys(MEMBERS).length
    ? undefined
    : `${its} has no ${lacking.join(', no ')} of the right type`;
}

const isClass = (value: object): boolean => /^class\b/u.test(Function.prototype.toString.call(value));
