/** A daemon whose file is edited on its own pages, with linked records in both CRMs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import type { HubspotEmulatorOptions } from '../../../providers/kit/hubspot/account/options.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import { type App, startApp } from '../../../src/app.ts';
import type { Config } from '../../../src/config/load.ts';
import { loadConfig } from '../../../src/config/load-file.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { companyEntityId } from '../../../src/protocol/entity-id.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type Connections, type CrmName, type Crms, configFor, postWebhook, startCrms } from '../../support/fixture.ts';
import { newFolder, newStoreUrl } from '../../support/stores.ts';
import { adminAt, type Visitor } from '../visitor.ts';

export interface EditedDaemon extends Crms {
  readonly app: App;
  readonly file: string;
  readonly text: () => string;
  readonly admin: () => Promise<Visitor>;
  /** Links a record to a company of which all is known. */
  readonly addLinked: (
    name: CrmName,
    at: number,
    properties: Readonly<Record<string, PropertyValue>>,
  ) => Promise<string>;
  readonly settled: () => Promise<void>;
  /** Changes the file; the configuration that it is then. */
  readonly rewritten: (change: (content: FileContent) => void) => Promise<Config>;
}

interface FileContent {
  readonly connector: { readonly providers: Record<string, Record<string, unknown>> };
}

/** `before`: the text of the file, made of what the daemon needs. */
export async function startEdited({
  connections = { salesforce: false },
  hubspot = {},
  before = (content) => stringify(content),
}: {
  readonly connections?: Connections;
  readonly hubspot?: HubspotEmulatorOptions;
  readonly before?: (content: object) => string;
} = {}): Promise<EditedDaemon> {
  const crms = await startCrms({ hubspot });
  const file = join(newFolder(), 'cvrsync.yaml');
  writeFileSync(file, before(configFor(crms, await newStoreUrl('sqlite'), { connections })));
  const load = async () => {
    const loaded = await loadConfig({ file, env: {} });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    return loaded.config;
  };
  let reloading: Promise<unknown> = Promise.resolve();
  const app: App = await startApp(await load(), {
    ...{ log: pino({ level: process.env['CVRSYNC_TEST_LOG'] ?? 'silent' }), env: {}, configFile: file },
    reread: () => {
      reloading = reloading.then(async () => app.reload(await load()));
    },
  });
  onTestFinished(async () => {
    await reloading;
    await app.close(0);
  });
  const settled = async () => {
    await reloading;
    await app.connector?.drained();
  };
  return {
    ...{ ...crms, app, file, settled },
    text: () => readFileSync(file, 'utf8'),
    admin: () => adminAt(app.adminUrl, app.store),
    async rewritten(change) {
      const content = parse(readFileSync(file, 'utf8'));
      change(content);
      writeFileSync(file, stringify(content));
      return load();
    },
    async addLinked(name, at, properties) {
      const entity = companyEntityId(cvrNumber(at));
      const recordId = crms[name].add(properties);
      await app.store.write((tx) =>
        linkRecord(tx, { provider: name, recordId, entity, sendUpdate: false, now: Date.now() }),
      );
      await postWebhook(`${app.url}/webhook`, samplePayload({ entityId: entity, seed: at + 1, now: Date.now() }));
      return recordId;
    },
  };
}

/** The fields of a page's mapping form, as a browser without script sends them. */
export function formOf(text: string): URLSearchParams {
  const [, form = ''] = /<form id="mapping".*?>(.*?)<\/form>/su.exec(text) ?? [];
  const fields = new URLSearchParams();
  for (const [, tag = '', attributes = '', inside = ''] of form.matchAll(
    /<(input|select|textarea)\b([^>]*)>(?:(.*?)<\/\1>)?/gsu,
  )) {
    const [, name = '_form'] = /\bname="([^"]*)"/u.exec(attributes) ?? [];
    const isUnticked = /type="checkbox"/u.test(attributes) && !/\bchecked\b/u.test(attributes);
    if (name !== '_form' && !isUnticked) fields.append(name, plain(sentBy(tag, attributes, inside)));
  }
  return fields;
}

const plain = (value: string): string =>
  value.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&#39;', "'");

function sentBy(tag: string, attributes: string, inside: string): string {
  if (tag === 'textarea') return inside;
  if (tag === 'input') return /\bvalue="([^"]*)"/u.exec(attributes)?.[1] ?? '';
  const chosen = /<option[^>]*value="([^"]*)"[^>]*\bselected/u.exec(inside);
  return (chosen ?? /^\s*<option(?:[^>]*value="([^"]*)")?/u.exec(inside))?.[1] ?? '';
}

/** Sets one value of the row of a field. */
export function setRow(fields: URLSearchParams, field: string, name: 'p' | 'w' | 'm', value: string): URLSearchParams {
  const at = fields.getAll('f').indexOf(field);
  const changed = new URLSearchParams();
  let seen = 0;
  for (const [key, given] of fields) {
    const isMeant = key === name && seen++ === at;
    changed.append(key, isMeant ? value : given);
  }
  return changed;
}

/** The same form with a button pressed. */
export function pressed(fields: URLSearchParams, press: string): URLSearchParams {
  const changed = new URLSearchParams(fields);
  changed.set('do', press);
  return changed;
}
