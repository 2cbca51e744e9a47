/** Which methods a path has routes for: what a 405 names. */
import type { Server } from './listener.ts';

/** Collects the routes of a server. Call it before the first is added; the result names the methods of a path, sorted. */
export function collectMethods(app: Server): (path: string) => readonly string[] {
  const patterns = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = patterns.get(url) ?? new Set();
    for (const each of [method].flat()) if (each !== 'HEAD') methods.add(each);
    patterns.set(url, methods);
  });
  return (path) => {
    const found = [...patterns].flatMap(([pattern, methods]) => (fits(pattern, path) ? [...methods] : []));
    return [...new Set(found)].toSorted();
  };
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return false;
  return wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]));
}
