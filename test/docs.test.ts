/** The documents say what the code does: their tables and examples are held to it. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FIELD_NAMES, FIELDS, type Field, type FieldName } from '../providers/fields.ts';
import { hubspotPreset } from '../providers/hubspot/preset.ts';
import * as hubspot from '../providers/hubspot/write/custom-properties.ts';
import { WIRE_TYPES } from '../providers/hubspot/write/wire-types.ts';
import type { Policy, Preset, PropertyValue } from '../providers/provider.ts';
import { salesforcePreset } from '../providers/salesforce/preset.ts';
import * as salesforce from '../providers/salesforce/write/custom-fields.ts';
import { type App, startApp } from '../src/app.ts';
import type { Command } from '../src/commands/cli/command.ts';
import { COMMANDS } from '../src/commands/list.ts';
import { checkConfig } from '../src/config/load.ts';
import { parseConfig } from '../src/config/parse.ts';
import { configSchema } from '../src/config/schema/schema.ts';
import { decide, type Inputs } from '../src/connector/decide/decide.ts';
import { createMetrics } from '../src/http/metrics.ts';
import { readPayload } from '../src/protocol/payload.ts';
import { checked } from './support/config.ts';
import { DOCS, fenced, readDoc, spans, tableIn } from './support/docs.ts';
import { newFolder } from './support/stores.ts';
import { ofStranger } from './support/stranger.ts';

const ROOT = join(import.meta.dirname, '..');
const COMMAND_PAGE = readDoc('docs/commands.md');
const MAPPING = readDoc('docs/mapping.md');
const HTTP_API = readDoc('docs/http-api.md');
const PROVIDERS = readDoc('providers/README.md');
/** What a user reads, with the changelog left out: it tells of what is no more. */
const PAGES = DOCS.filter((path) => path !== 'CHANGELOG.md').map(readDoc);

/** What the variables of examples hold, where it cannot be anything. */
const SECRETS: Readonly<Record<string, string>> = {
  SMTP_URL: 'smtp://mail.example.com',
  ALERT_WEBHOOK: 'https://hooks.example.com/alerts',
};

const POLICIES = ['tracked', 'always', 'if-blank', 'never'] as const satisfies readonly Policy[];

const kebab = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** `monitoring add <provider> <entity-id>`: every command that does something, with its arguments. */
function usages(command: Command, before = ''): readonly { usage: string; command: Command }[] {
  const path = `${before}${command.name}`;
  const args = Object.entries(command.args).map(([name, { shape }]) => {
    const word = kebab(name);
    return { needed: ` <${word}>`, optional: ` [${word}]`, many: ` [${word}...]` }[shape];
  });
  const own = command.run === undefined ? [] : [{ usage: path + args.join(''), command }];
  return [...own, ...command.commands.flatMap((sub) => usages(sub, `${path} `))];
}

const commands = async () =>
  (await Promise.all(COMMANDS.map(async (entry) => (await entry.load()).command))).flatMap((each) => usages(each));

describe('the documents', () => {
  it('list every command with its arguments, and no other', async () => {
    const listed = tableIn(COMMAND_PAGE, 'Command', 'Does').map((row) => row['Command']?.replaceAll('`', ''));
    expect(listed.toSorted()).toEqual((await commands()).map(({ usage }) => usage).toSorted());
  });

  it('name only options that their command has', async () => {
    const all = await commands();
    for (const row of tableIn(COMMAND_PAGE, 'Command', 'Does')) {
      const options = all.find(({ usage }) => `\`${usage}\`` === row['Command'])?.command.options ?? {};
      const known = Object.keys(options).map((name) => `--${kebab(name)}`);
      expect(known, row['Command']).toEqual(expect.arrayContaining(row['Does']?.match(/--[a-z-]+/gu) ?? []));
    }
  });

  it('tell of no command that does not exist', async () => {
    const words = new Set((await commands()).map(({ usage }) => usage.split(' ')[0]));
    const told = DOCS.flatMap(
      (path) =>
        [...spans(readDoc(path)), ...fenced(readDoc(path), 'sh')].join('\n').match(/cvrsync (?!cvrsync)[a-z]+/gu) ?? [],
    );
    expect(told.length).toBeGreaterThan(5);
    for (const one of told) expect([...words], one).toContain(one.split(' ')[1]);
  });

  it('show configurations that load', async () => {
    const folder = newFolder();
    symlinkSync(join(ROOT, 'providers'), join(folder, 'providers'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'my-provider.ts'), fenced(PROVIDERS, 'ts')[0] ?? '');
    writeFileSync(join(folder, 'salesforce.pem'), 'a-secret');
    // Values of the chart have their test in test/deploy/chart.test.ts.
    const examples = PAGES.flatMap((doc) => fenced(doc, 'yaml')).filter((text) => !text.startsWith('config:'));
    expect(examples.length).toBeGreaterThan(3);
    for (const text of examples) {
      const parsed = parseConfig(text.replaceAll('/run/secrets/', `${folder}/`));
      const value = parsed.ok ? Object(parsed.value) : {};
      // An example of one connection stands without what surrounds it.
      const rest = { webhook: { auth: { method: 'None' } }, providers: value };
      const isWhole = Object.keys(configSchema.properties).some((key) => Object.hasOwn(value, key));
      const whole = isWhole ? value : { connector: rest };
      const names = text.match(/(?<=\$\{)\w+(?=\})/gu) ?? [];
      const env = Object.fromEntries(names.map((name) => [name, SECRETS[name] ?? 'a-secret']));
      expect(await checkConfig(whole, join(folder, 'cvrsync.yaml'), env), text).toMatchObject({ ok: true });
    }
  });

  it('name only metrics that exist', () => {
    const exist = createMetrics()
      .registry.getMetricsAsArray()
      .map(({ name }) => name);
    const named = new Set(PAGES.join('\n').match(/\bcvrsync_[a-z_]+/gu));
    expect(named.size).toBeGreaterThan(5);
    expect(exist).toEqual(expect.arrayContaining([...named]));
  });
});

describe('the table of decisions', () => {
  const CRM_HOLDS: Readonly<Record<string, Partial<Inputs>>> = {
    'the value the register has now': { crm: 'C' },
    'what the CRM made of that value when we wrote it': { crm: 'c', last: 'C', stored: 'c' },
    nothing: { crm: null },
    'what we wrote last, or what the CRM made of it': { crm: 'b', stored: 'b' },
    'a value the register had before': { crm: 'A' },
    'anything else': { crm: 'X' },
  };
  const HEAD = ['The CRM holds', 'tracked', 'always', 'if-blank', 'never'] as const;
  const rows = tableIn(MAPPING, ...HEAD);

  it('is the same in the README', () => {
    expect(tableIn(readDoc('README.md'), ...HEAD)).toEqual(rows);
  });

  it('has a row for every case', () => {
    expect(rows.map((row) => row['The CRM holds'])).toEqual(Object.keys(CRM_HOLDS));
  });

  it.each(
    rows.flatMap((row) => POLICIES.map((policy) => ({ holds: row['The CRM holds'] ?? '', policy, says: row[policy] }))),
  )('is right where the CRM holds $holds under $policy', ({ holds, policy, says }) => {
    const same = (a: PropertyValue, b: PropertyValue): boolean => a === b;
    const known = ['A', 'C'];
    const person = { override: undefined, trusted: false } as const;
    const inputs = { crm: null, now: 'C', known, last: 'B', policy, same, ...person, ...CRM_HOLDS[holds] };
    const { action, rule } = decide(inputs);
    expect(says).toBe(`${action} (${rule})`);
  });

  const SAID: Readonly<Record<string, Pick<Inputs, 'override' | 'trusted'>>> = {
    '`hold` on the property or the record': { override: 'hold', trusted: false },
    '`release` on the property': { override: 'release', trusted: false },
    'a link that trusts the register, the first time': { override: undefined, trusted: true },
  };
  const ruled = tableIn(MAPPING, 'A person said', 'tracked', 'always', 'if-blank', 'never');

  it('has a row for every word of a person', () => {
    expect(ruled.map((row) => row['A person said'])).toEqual(Object.keys(SAID));
  });

  it.each(
    ruled.flatMap((row) => POLICIES.map((policy) => ({ said: row['A person said'] ?? '', policy, says: row[policy] }))),
  )('is right where a person said $said under $policy', ({ said, policy, says }) => {
    const person = SAID[said] ?? { override: undefined, trusted: false };
    const same = (a: PropertyValue, b: PropertyValue): boolean => a === b;
    const { action, rule } = decide({ crm: 'X', now: 'C', known: ['A', 'C'], last: 'B', policy, same, ...person });
    expect(says).toBe(`${action} (${rule})`);
  });
});

/** What the documents say is on the admin listener alone. */
const ON_ADMIN = /^\/(?:admin\/api\/|metrics$|openapi\.json$)/u;

/** Each CRM posts in a shape of its own: no part of our OpenAPI document. */
const OF_THE_CRMS = ['POST /providers/{provider}/webhook'];

describe('the tables of HTTP', () => {
  it('list every route, and each answers', async () => {
    const { url, adminUrl } = await running();
    const routes = tableIn(HTTP_API, 'Route', 'Who calls it').flatMap((row) => routesIn(row['Route'] ?? ''));
    const document = await (await fetch(`${adminUrl}/openapi.json`)).text();
    const { paths }: { paths: Readonly<Record<string, object>> } = JSON.parse(document);
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((name) => name !== 'servers')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.toSorted()).toEqual([...served, ...OF_THE_CRMS].toSorted());
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ');
      const answer = await fetch((ON_ADMIN.test(path) ? adminUrl : url) + path, { method, headers: ofStranger() });
      expect(answer.status, route).not.toBe(405);
      expect(await answer.text(), route).not.toContain('There is nothing at this path');
    }
  });

  it('show a payload of the webhook that is sent as the connector reads it', () => {
    const [payload = ''] = fenced(HTTP_API, 'json');
    const read = readPayload(JSON.parse(payload));
    expect(read).toMatchObject({ ok: true, payload: { malformed: [], unknown: {}, updates: { name: {} } } });
  });

  it('say what the webhook answers', async () => {
    const app = await running();
    const event = JSON.stringify({ entityId: 'CVR-1-10000009', timestamp: '2026-03-01T12:00:00Z', updates: {} });
    const key = { 'x-webhook-key': 'a-secret' };
    const json = { ...key, 'content-type': 'application/json' };
    const post = async (headers: Record<string, string>, body: string): Promise<number> =>
      (await fetch(`${app.url}/webhook`, { method: 'POST', headers, body })).status;
    const answers = [
      [204, await post(json, event)],
      [400, await post(json, '{')],
      [401, await post({ ...json, 'x-webhook-key': 'another' }, event)],
      [413, await post(json, `"${'x'.repeat(1024 * 1024)}"`)],
      [415, await post({ ...key, 'content-type': 'text/plain' }, event)],
    ];
    await app.connector?.intake.stop();
    answers.push([503, await post(json, event)]);
    const listed = tableIn(HTTP_API, 'The webhook answers', 'When').map((row) => Number(row['The webhook answers']));
    expect(answers).toEqual(listed.map((status) => [status, status]));
  });
});

describe('the README of the providers', () => {
  const properties = (preset: Preset, field: FieldName, policy: Policy): string =>
    preset
      .filter((row) => row.field === field && row.policy === policy)
      .map((row) => `\`${row.property}\``)
      .join(', ');

  it('lists every field with what the presets do with it', () => {
    const expected = FIELD_NAMES.map((name) => {
      const { kind, about, persons }: Field = FIELDS[name];
      return {
        Field: `\`${name}\``,
        Kind: kind,
        'What it is': persons === true ? `${about} (persons)` : about,
        HubSpot: properties(hubspotPreset, name, 'tracked'),
        'HubSpot, own': properties(hubspotPreset, name, 'always'),
        Salesforce: properties(salesforcePreset, name, 'tracked'),
        'Salesforce, own': properties(salesforcePreset, name, 'always'),
      };
    });
    expect(tableIn(PROVIDERS, 'Field', 'Kind')).toEqual(expected);
  });

  it('lists the own properties of both CRMs', () => {
    expect(tableIn(PROVIDERS, 'Property', 'Label').map((row) => Object.values(row))).toEqual(
      hubspot.HUBSPOT_DEFINITIONS.map(({ name, label, type }) => {
        const wire = WIRE_TYPES[type];
        return [`\`${name}\``, label, wire.type.toLowerCase(), wire.fieldType.toLowerCase()];
      }),
    );
    const inSalesforce = [salesforce.CVR_NUMBER, ...salesforce.REGISTER_FIELDS, salesforce.CVR_HOLD];
    expect(tableIn(PROVIDERS, 'Field', 'Label').map((row) => Object.values(row))).toEqual(
      inSalesforce.map(({ name, label, type, length, scale }) => [
        `\`${name}\``,
        label,
        type,
        String(length ?? scale ?? ''),
      ]),
    );
  });

  it('lists the members and verbs of the contract, and its faults', () => {
    const source = readDoc('providers/provider.ts');
    const bodyOf = (name: string): string => new RegExp(`interface ${name}\\b.*?\\n\\}`, 'su').exec(source)?.[0] ?? '';
    const membersOf = (name: string): string[] => bodyOf(name).match(/(?<=^ {2}(?:readonly )?)\w+(?=[?:(])/gmu) ?? [];
    const first = (column: string): string[] =>
      tableIn(PROVIDERS, column).map((row) => row[column]?.replaceAll('`', '') ?? '');
    expect(first('Member')).toEqual(membersOf('Provider'));
    expect(first('Verb')).toEqual(membersOf('Connection'));
    const faults = /type Fault = (?<faults>.*);/u.exec(source)?.groups?.['faults'] ?? '';
    expect(first('Fault').toSorted()).toEqual((faults.match(/\w+/gu) ?? []).toSorted());
  });
});

/** `` `GET` `POST /path` `` as two routes. */
function routesIn(cell: string): readonly string[] {
  const words = spans(cell).map((span) => span.split(' '));
  const path = words.flatMap(([, one]) => one ?? [])[0] ?? '';
  return words.map(([method]) => `${method} ${path}`);
}

/** A daemon as the documents' examples set its halves up, without anything behind it; stopped after the test. */
async function running(): Promise<App> {
  const pages = [readDoc('docs/configuration.md'), readDoc('docs/service.md')];
  const examples = pages.flatMap((page) => fenced(page, 'yaml')).map(parseConfig);
  const [value, own] = ['connector', 'service'].map((half) =>
    Object(examples.map((each) => (each.ok ? Object(each.value) : {})).find((each) => Object.hasOwn(each, half))),
  );
  const env = { WEBHOOK_SECRET: 'a-secret', HUBSPOT_ACCESS_TOKEN: 'x', SF_CLIENT_ID: 'x', SF_CLIENT_SECRET: 'x' };
  const { upstream, ...connector } = value.connector;
  const folder = newFolder();
  // Nothing leaves this machine.
  const { register, smtp, reports, gazette, press, ...rest } = own.service;
  const service = { ...rest, register: { source: 'file', path: folder } };
  const store = join(folder, 'store.db');
  const trustProxy = ['127.0.0.1'];
  const [server, admin] = [
    { port: 0, trustProxy },
    { openMetrics: true, trustProxy },
  ];
  const { config } = await checked({ server, admin, store, connector, service }, env);
  const app = await startApp(config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(1_000));
  return app;
}
