/** A daemon whose configuration changes between two starts, over records whose names people wrote. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type App, type AppOptions, startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { companyEntityId } from '../../../src/protocol/entity-id.ts';
import { renamed } from '../../faults/company.ts';
import { type Ran, runCli } from '../../support/cli.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type Connections, configFor, postWebhook, startCrms } from '../../support/fixture.ts';
import { type ENGINES, newFolder, newStoreUrl } from '../../support/stores.ts';

/** Of the name, which is tracked by the preset. */
export const ALWAYS = { hubspot: { fields: { name: { property: 'name', policy: 'always' } } } } satisfies Connections;
export const TRACKED = { hubspot: { fields: { name: { property: 'name', policy: 'tracked' } } } } satisfies Connections;

export interface Line {
  readonly msg: string;
  readonly provider?: string;
  readonly edits?: number;
  readonly linked?: number;
  readonly examples?: readonly string[];
  readonly advice?: string;
}

export interface Started {
  readonly app: App;
  readonly lines: readonly Line[];
  /** The configuration file of the daemon. */
  readonly file: string;
  /** What it holds. */
  readonly content: string;
  cli(...argv: readonly string[]): Promise<Ran>;
}

/** `count` linked records, each with a name that a person wrote over the register's, and no daemon. */
export async function handwritten(engine: (typeof ENGINES)[number], count = 3) {
  const crms = await startCrms({ hubspot: { properties: [{ name: 'selskabsstatus', type: 'string' }] } });
  const url = await newStoreUrl(engine);
  const start = async (connections: Connections, more: Partial<AppOptions> = {}): Promise<Started> => {
    const file = join(newFolder(), 'cvrsync.yaml');
    const content = configFor(crms, url, { connections });
    await writeFile(file, JSON.stringify(content));
    const loaded = await checkConfig(content, file, {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    const lines: Line[] = [];
    const log = pino({ level: 'info' }, { write: (text: string) => lines.push(JSON.parse(text)) });
    const app = await startApp(loaded.config, { log, env: {}, ...more });
    onTestFinished(() => app.close(0));
    return {
      app,
      lines,
      file,
      content: JSON.stringify(content),
      cli: (...argv) => runCli(['--config', file, ...argv]),
    };
  };
  const first = await start(TRACKED);
  const entities = Array.from({ length: count }, (_, at) => companyEntityId(cvrNumber(at)));
  const ids = entities.map(() => crms.hubspot.add({ name: 'A ApS' }));
  await first.app.store.write(async (tx) => {
    for (const [at, recordId] of ids.entries()) {
      const link = { provider: 'hubspot', recordId, entity: entities[at] ?? '', sendUpdate: false, now: Date.now() };
      await linkRecord(tx, link);
    }
  });
  for (const entity of entities) await postWebhook(`${first.app.url}/webhook`, renamed('A ApS', 'B ApS', 8, entity));
  await first.app.connector?.drained();
  for (const [at, id] of ids.entries()) crms.hubspot.edit(id, { name: `Kunde ${at}` });
  await first.app.close(1_000);
  return { crms, url, ids, start, names: () => ids.map((id) => crms.hubspot.get(id)?.['name']) };
}
