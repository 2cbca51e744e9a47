/** Every operation does the same on each face: the same effect, the same entry in the audit, the same refusal. */
import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/commands/cli/command.ts';
import { COMMANDS } from '../../src/commands/list.ts';
import { CONNECTOR_OPERATIONS } from '../../src/operations/connector/list.ts';
import { INSTALLATION_OPERATIONS } from '../../src/operations/installation/list.ts';
import { SERVICE_OPERATIONS } from '../../src/operations/service/list.ts';
import { beginErasure } from '../../src/store/erasure/erasures.ts';
import { COMPANY } from '../service/monitored.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { type Case, NOBODY } from './case.ts';
import { CASES, step } from './cases.ts';
import { type Asked, anonymous, FACES, type Face, type Faces, openFaces, rowsOf } from './faces.ts';

/** The version of the secret that the page shows, which its form sends back. */
async function withSeen({ admin }: Faces, asked: Asked): Promise<Asked> {
  const [path = '', fields = {}] = asked.page ?? [];
  if (fields['seen'] !== 'SEEN') return asked;
  const seen = /name="seen" value="([^"]*)"/.exec((await admin.get(path.replace(/\/resend$/u, ''))).text)?.[1] ?? '';
  return { ...asked, page: [path, { ...fields, seen }] };
}

/** Runs a case on one face, twice; what it left in the audit and the store. Undefined if the face does not have it. */
async function outcomeOf(
  faces: Faces,
  { operation, what, make, ask, again, result: wanted }: Case,
  face: Face,
): Promise<unknown> {
  const named = `${operation} ${what}, by ${face}`;
  const [id, other = ''] = await make(faces);
  const asked = await withSeen(faces, ask(id, other));
  if (asked[face] === undefined) return undefined;
  const [[entry, ...others], answered] = await faces.audited(face, asked);
  // A test whose webhook fails is run, and its command fails.
  if (operation !== 'monitor.test') expect(answered.status, `${named}: ${answered.text}`).toBeLessThan(400);
  const { via, subject = '', action, detail, result } = entry ?? {};
  expect([via, others], named).toEqual([wanted === undefined ? undefined : face, []]);
  if (again !== undefined) {
    const [more, { status }] = await faces.audited(face, asked);
    // A form that is sent twice shows the next page.
    const isRefused = again !== 'unchanged' && face !== 'page';
    expect([more, isRefused ? status : status < 400], `${named}, again`).toEqual([[], isRefused ? again : true]);
  }
  const isOf = id === '' || subject === other || subject.split(/[ :]/u).includes(id);
  const audit = { action, detail, result, isOf };
  return {
    audit: anonymous(audit, id === '' ? subject : id),
    rows: await rowsOf(faces.store, id === '' ? subject : id),
  };
}

describe.each(SUITE_ENGINES)('on %s each face runs', (engine) => {
  it('every operation with the same effect and the same entry in the audit, once', async () => {
    const faces = await openFaces(engine);
    for (const one of CASES) {
      const { operation, what, result, action = operation } = one;
      let first: unknown;
      for (const face of FACES) {
        const outcome = await outcomeOf(faces, one, face);
        first ??= outcome;
        expect(outcome ?? first, `${operation} ${what}, by ${face}`).toEqual(first);
      }
      expect(first).toMatchObject({ audit: result === undefined ? {} : { action, result, isOf: true } });
    }
  });
});

const ERASED = 'CVR-3-4000000009';

const named = (command: Command): readonly string[] => [
  ...[command.operation ?? []].flat(),
  ...command.commands.flatMap(named),
];

describe('operations', () => {
  // A filter finds nothing then, and says so. Connections and versions have names and numbers of their own.
  const ofOne = CASES.filter(
    ({ operation }) =>
      !/\.create$|^delivery\.|^config\.|\.preview$|\.import$|\.scan$|^match\.run$|^monitoring\.add$/u.test(operation),
  );

  it.each(FACES)('are refused by %s for an unknown id, and leave no entry', async (face) => {
    const faces = await openFaces('sqlite');
    for (const { operation, ask } of ofOne) {
      const asked = ask(NOBODY, NOBODY);
      if (asked[face] === undefined) continue;
      const [entries, { status }] = await faces.audited(face, asked);
      // The list shows that a removed monitor is gone, and the page of many answers that one was given already.
      const isShown = /^(?:monitor\.remove$|review\.)/u.test(operation) && face === 'page';
      expect([operation, isShown ? status < 400 : status, entries]).toEqual([operation, isShown || 404, []]);
    }
  });

  it.each<readonly [string, number, string, (id: string) => Asked]>([
    [
      'an address that is none',
      422,
      'should be an address',
      (id) => ({
        command: ['monitors', 'update', id, '--url', 'ftp://x'],
        api: ['PATCH', `/monitors/${id}`, { url: 'ftp://x' }],
        page: step(id, 'edit', { url: 'ftp://x', name: 'Sales', method: 'keep' }),
      }),
    ],
    [
      'nobody to tell',
      422,
      'nobody would be notified',
      () => ({
        command: ['monitors', 'create', 'Sales'],
        api: ['POST', '/monitors', { name: 'Sales' }],
        page: ['/monitors', { id: crypto.randomUUID(), name: 'Sales' }],
      }),
    ],
    [
      'a job for a key that is none',
      422,
      'is no API key',
      () => ({
        command: ['jobs', 'create', 'hubspot', '--key', NOBODY],
        api: ['POST', '/jobs', { provider: 'hubspot', key: NOBODY }],
        page: ['/jobs', { id: crypto.randomUUID(), provider: 'hubspot', owner: NOBODY }],
      }),
    ],
    [
      'a key without a name',
      422,
      '',
      () => ({
        command: ['keys', 'create', ' '],
        api: ['POST', '/keys', { name: ' ' }],
        page: ['/keys', { id: crypto.randomUUID(), name: ' ', scope: 'news' }],
      }),
    ],
    [
      'a record whose id is no text',
      422,
      '',
      (id) => ({
        command: ['monitors', 'entities', 'add', id, COMPANY, '--record', 'a\nb'],
        api: ['POST', `/monitors/${id}/items`, { entityId: COMPANY, recordId: 'a\nb' }],
        page: step(id, 'items', { entity: COMPANY, record: 'a\nb' }),
      }),
    ],
    [
      'a person who was erased',
      409,
      `${ERASED} was erased`,
      (id) => ({
        command: ['monitors', 'entities', 'add', id, ERASED],
        api: ['POST', `/monitors/${id}/items`, { entityId: ERASED }],
        page: step(id, 'items', { entity: ERASED }),
      }),
    ],
  ])(
    'are refused alike for what is wrong with the input, and leave no entry: %s',
    async (_what, refusal, words, ask) => {
      const faces = await openFaces('sqlite');
      const { id } = await faces.make();
      await faces.store.write((tx) => beginErasure(tx, { entities: [ERASED], names: [] }, '', 1));
      for (const face of FACES) {
        const [entries, { status, text }] = await faces.audited(face, ask(id));
        expect([face, status, text, entries]).toEqual([face, refusal, expect.stringContaining(words), []]);
      }
    },
  );

  it('have a case each, and the faces that it needs, if they change something', async () => {
    const changing = [...INSTALLATION_OPERATIONS, ...CONNECTOR_OPERATIONS, ...SERVICE_OPERATIONS].filter(
      ({ change, name }) => change !== undefined || name === 'monitor.test',
    );
    expect([...new Set(CASES.map(({ operation }) => operation))].toSorted()).toEqual(
      changing.map(({ name }) => name).toSorted(),
    );
    const commands = await Promise.all(COMMANDS.map(async ({ load }) => named((await load()).command)));
    for (const { name, api } of changing) {
      const asked = CASES.find(({ operation }) => operation === name)?.ask(NOBODY, NOBODY);
      expect([name, asked?.command !== undefined, asked?.api !== undefined]).toEqual([
        name,
        commands.flat().includes(name),
        api !== undefined,
      ]);
    }
  });
});
