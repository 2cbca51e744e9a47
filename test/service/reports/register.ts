/** The filing index and the host of its documents on loopback, and a worker that polls them into a store. */
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { type EmulatorRequest, type ServedEmulator, serveEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import type { Change } from '../../../src/service/changes/change.ts';
import { pollReports, type ReportsDeps, type ReportsSettings } from '../../../src/service/reports/poll.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Host, served } from './hosts.ts';

export interface Publication {
  readonly id: number;
  readonly cvr?: number;
  readonly start?: string;
  readonly end?: string;
  readonly published: string;
  /** When the index shows it as changed; `published` where absent. */
  readonly updated?: string;
  /** File names; the extension gives the type. */
  readonly files?: readonly string[];
  readonly type?: string;
}

const MIMES: Readonly<Record<string, string>> = {
  xml: 'application/xml',
  xhtml: 'application/xhtml+xml',
  pdf: 'application/pdf',
  zip: 'application/zip',
};

/** A record as the index holds it. */
export function recordOf(one: Publication, documentsUrl: string) {
  const { id, cvr = 90000007, start = '2023-01-01', end = '2023-12-31', published, updated = published } = one;
  const { files = [`${id}.xml`, `${id}.pdf`], type = 'AARSRAPPORT' } = one;
  return {
    _index: 'indberetninger',
    _type: '_doc',
    _id: `urn:ofk:oid:${id}`,
    _source: {
      cvrNummer: cvr,
      sagsNummer: `24-${id}`,
      regnskab: { regnskabsperiode: { startDato: start, slutDato: end } },
      offentliggoerelsesTidspunkt: published,
      sidstOpdateret: updated,
      offentliggoerelsestype: 'regnskab',
      omgoerelse: false,
      dokumenter: files.map((file) => ({
        dokumentUrl: `${documentsUrl}/${file}`,
        dokumentMimeType: MIMES[file.split('.').at(-1) ?? ''],
        dokumentType: type,
      })),
    },
    sort: [Date.parse(updated), String(cvr)],
  };
}

export type IndexRecord = ReturnType<typeof recordOf>;

export interface Register {
  readonly index: ServedEmulator;
  readonly documents: Host;
  /** What the index asked for, parsed. */
  readonly queries: Query[];
  /** What the index holds; in any order. */
  readonly records: unknown[];
  publish(...publications: readonly Publication[]): void;
  /** By file name; a number is an answer's status. */
  readonly files: Map<string, string | Buffer | number>;
  /** What becomes of an answer before it is sent. */
  twist: (hits: unknown[]) => unknown[];
}

interface Query {
  readonly size: number;
  readonly query: {
    readonly bool: {
      readonly filter: readonly [{ readonly range: { readonly sidstOpdateret: { readonly gte: string } } }];
    };
  };
  readonly search_after?: readonly [number, string];
}

const WHOLE = { total: 5, successful: 5, skipped: 0, failed: 0 };
const isRecord = (one: unknown): one is IndexRecord => typeof one === 'object' && one !== null && 'sort' in one;

export async function openRegister(): Promise<Register> {
  const files = new Map<string, string | Buffer | number>();
  const records: unknown[] = [];
  const queries: Query[] = [];
  const documents = await served((request, response) => {
    const file = files.get(request.url?.slice(1) ?? '') ?? 404;
    if (typeof file === 'number') response.writeHead(file).end();
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(file));
  });
  const answer = ({ body, url }: EmulatorRequest) => {
    if (url.pathname !== '/offentliggoerelser/_search') return { status: 404 };
    const query: Query = JSON.parse(body);
    queries.push(query);
    const { gte } = query.query.bool.filter[0].range.sidstOpdateret;
    const [time, cvr] = query.search_after ?? [0, ''];
    const isAfter = ({ sort: [at, by] }: IndexRecord) => Number(at) > time || (Number(at) === time && String(by) > cvr);
    const hits = records.filter((one) => !isRecord(one) || (one._source.sidstOpdateret >= gte && isAfter(one)));
    const sorted = hits.sort((a, b) =>
      isRecord(a) && isRecord(b)
        ? Number(a.sort[0]) - Number(b.sort[0]) || (String(a.sort[1]) < String(b.sort[1]) ? -1 : 1)
        : 0,
    );
    return {
      status: 200,
      body: {
        timed_out: false,
        _shards: WHOLE,
        hits: { total: hits.length, hits: register.twist(sorted.slice(0, query.size)) },
      },
    };
  };
  const index = await serveEmulator(answer);
  onTestFinished(() => index.close());
  const register: Register = {
    index,
    documents,
    queries,
    records,
    files,
    publish: (...more) => void records.push(...more.map((one) => recordOf(one, documents.url))),
    twist: (hits) => hits,
  };
  return register;
}

export interface Polling {
  readonly deps: ReportsDeps;
  /** Everything that was published, in order. */
  readonly told: Change[];
  readonly warnings: object[];
  /** Ms since 1970; moves only when it is set. */
  time: number;
  poll(): Promise<void>;
}

/** A worker on a store; what it publishes is kept in a list. */
export function polling(store: Store, register: Register, more: Partial<ReportsSettings> = {}): Polling {
  const client = openClient();
  onTestFinished(() => client.close());
  const told: Change[] = [];
  const warnings: object[] = [];
  const settings: ReportsSettings = {
    indexUrl: `${register.index.url}/offentliggoerelser/`,
    documentHosts: ['127.0.0.1'],
    pollSeconds: 300,
    deprecatedReport: false,
    spacingMs: 0,
    ...more,
  };
  const deps: ReportsDeps = {
    store,
    http: client.http,
    settings,
    now: () => self.time,
    metrics: createMetrics(),
    log: { warn: (details) => void warnings.push(details) },
    publish: async (_, changes) => void told.push(...changes),
    ring: () => undefined,
  };
  const self: Polling = {
    deps,
    told,
    warnings,
    time: Date.parse('2024-05-20T06:00:00.000Z'),
    poll: () => pollReports(deps, new AbortController().signal),
  };
  return self;
}
