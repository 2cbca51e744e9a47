/** The pages of the set-up on a real server, in this process, with nothing to go on to. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Finished } from '../../../src/dashboard/setup/first-way.ts';
import { addSetUp } from '../../../src/dashboard/setup/set-up.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { createServer } from '../../../src/http/server/server.ts';
import { createSetUpLink } from '../../../src/runtime/operators/sessions.ts';
import type { SetUpPlace } from '../../../src/setup/config-of.ts';
import { readDraft } from '../../../src/setup/draft.ts';
import { createEffects } from '../../../src/setup/trials/effects.ts';
import { createTrials } from '../../../src/setup/trials/trials.ts';
import { writeConfig } from '../../../src/setup/write-file.ts';
import type { Store } from '../../../src/store/store.ts';
import { newFolder, newStore } from '../../support/stores.ts';
import { newVisitor, type Visitor } from '../visitor.ts';

export interface SetUpPages {
  readonly store: Store;
  readonly base: string;
  readonly place: SetUpPlace;
  /** The code of a new link. */
  code(): Promise<string>;
  /** A browser that came in by a link of its own. */
  entered(): Promise<Visitor>;
}

const SAMPLES = join(import.meta.dirname, '../../../samples/register');

/** Starts them; all of it ends with the test. Whoever finishes finds the file written, and no daemon. */
export async function startSetUpPages({
  now = Date.now,
  patienceMs,
}: {
  readonly now?: () => number;
  /** How long a page waits for a CRM. */
  readonly patienceMs?: number;
} = {}): Promise<SetUpPages> {
  const store = await newStore('sqlite');
  const place = { file: join(newFolder(), 'cvrsync.yaml'), samples: SAMPLES, admin: {}, server: {} };
  const client = openClient();
  const admin = createServer();
  const crm = { store, http: client.http, metrics: createMetrics(), now };
  const finish = async (): Promise<Finished> => {
    const written = await writeConfig(await readDraft(store.db), place, { env: {} });
    if (written.kind === 'unwritable') return written;
    if (written.kind === 'written') return { kind: 'running' };
    return { kind: 'refused', problems: written.problems.map(({ path, message }) => `${path}: ${message}`) };
  };
  const log = { warn: () => undefined, error: () => undefined };
  const tries = { trials: createTrials(crm, patienceMs), effects: createEffects(crm, { patienceMs }) };
  addSetUp(admin, { store, now, log, place, env: {}, crm, ...tries, finish });
  const base = await admin.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await admin.close();
    await client.close();
  });
  const code = () => store.write((tx) => createSetUpLink(tx, now()));
  return {
    store,
    base,
    place,
    code,
    async entered() {
      const visitor = newVisitor(base);
      await visitor.get('/setup');
      await visitor.post('/setup', { code: await code() });
      // The page has the form token of the session.
      await visitor.get('/setup/you');
      return visitor;
    },
  };
}
