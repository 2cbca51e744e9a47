/** The documents can be found and read: links lead somewhere, pages are short, and the package has what it points to. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsIn, DOCS, linksIn, readDoc } from './support/docs.ts';

const ROOT = join(import.meta.dirname, '..');

/** Where the links of a document lead: paths below the root, with their anchors. */
const targetsOf = (path: string): readonly { link: string; file: string; anchor: string | undefined }[] =>
  linksIn(readDoc(path)).map((link) => {
    const [target = '', anchor] = link.split('#');
    return { link, file: target === '' ? path : join(dirname(path), target), anchor };
  });

describe.each(DOCS)('%s', (path) => {
  it('has no dead link', () => {
    for (const { link, file, anchor } of targetsOf(path)) {
      expect(existsSync(join(ROOT, file)), link).toBe(true);
      if (anchor !== undefined) expect([...anchorsIn(readDoc(file))], link).toContain(anchor);
    }
  });
});

const linesOf = (path: string): number => readDoc(path).trimEnd().split('\n').length;

describe('the documents', () => {
  it('fit their lengths: 200 lines for the README, under 250 for a page', () => {
    expect(linesOf('README.md')).toBeLessThanOrEqual(200);
    for (const path of DOCS.filter((one) => one.startsWith('docs/'))) expect(linesOf(path), path).toBeLessThan(250);
  });

  it('stand in the table of contents, each once', () => {
    for (const contents of ['docs/README.md', 'docs/decisions/README.md']) {
      const folder = dirname(contents);
      const listed = targetsOf(contents).map(({ file }) => file);
      const pages = DOCS.filter((path) => dirname(path) === folder && path !== contents);
      expect(listed.filter((file) => dirname(file) === folder).toSorted()).toEqual(pages.toSorted());
    }
    expect(targetsOf('docs/README.md').map(({ file }) => file)).toContain('docs/decisions/README.md');
  });

  it('lead, in the package, to no page that it does not have', () => {
    const { files }: { files: readonly string[] } = JSON.parse(readDoc('package.json'));
    const packed = ['README.md', 'LICENSE', ...files];
    const isPacked = (file: string): boolean => packed.some((one) => file === one || file.startsWith(`${one}/`));
    const targets = DOCS.filter(isPacked).flatMap((path) => targetsOf(path).map(({ file }) => file));
    const pages = targets.filter((file) => file.endsWith('.md'));
    expect(pages).toContain('src/README.md');
    expect(pages.filter((file) => !isPacked(file))).toEqual([]);
  });
});
