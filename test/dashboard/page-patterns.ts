/** The pages of the route table, and where they are in a store. */
import { LEAST_ROLES } from './least-roles.ts';

/** Files to be kept, what leads on to a page, and what has a test of its own because nobody is signed in there. */
const NO_PAGES = /\.(?:csv|json)$|\/file$|\*|^\/login|^\/language/u;

/** The paths of all pages, as patterns. */
export const PAGE_PATTERNS: readonly string[] = Object.keys(LEAST_ROLES)
  .filter((route) => route.startsWith('GET '))
  .map((route) => route.slice('GET '.length))
  .filter((path) => !NO_PAGES.test(path));

interface Places {
  /** What stands for a part of a pattern: `:name`, or `/monitors/:id` for that of some pages; the first that fits. */
  readonly values: Readonly<Record<string, string>>;
  /** The filters with which a page is looked at; without any where absent. */
  readonly queries: Readonly<Record<string, readonly string[]>>;
}

/** The address of every page of the route table. Throws if one needs a value that is not given. */
export function pageAddresses({ values, queries }: Places): readonly string[] {
  const placed = (pattern: string): string =>
    Object.entries(values).reduce((path, [name, value]) => {
      const part = name.slice(name.lastIndexOf(':'));
      return path.startsWith(name) || name.startsWith(':') ? path.replace(part, encodeURIComponent(value)) : path;
    }, pattern);
  const addresses = PAGE_PATTERNS.flatMap((pattern) =>
    (queries[pattern] ?? ['']).map((query) => placed(pattern) + query),
  );
  const without = addresses.find((address) => /\/:/u.test(address));
  if (without !== undefined) throw new Error(`no value is given for the page ${without}`);
  return addresses;
}
