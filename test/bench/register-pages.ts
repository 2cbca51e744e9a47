/** The register's distribution for the bench of the first load: whole pages, compressed once, of documents made from the samples. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isJsonObject } from '../../src/protocol/text/json.ts';
import { documentsIn } from '../../src/service/register/source/source.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { answerWith } from './child.ts';

const SAMPLES = new URL('../service/samples/cvr-es/', import.meta.url);
const FIRST_NUMBER = 10_000_000;
const FIRST_LOADED = Date.UTC(2020, 0, 1);
const SHARDS = { total: 6, successful: 6, skipped: 0, failed: 0 };
const compress = promisify(gzip);

type Template = (number: number, loadedAt: string, renamed: string) => string;

/** Compressed pages, what they are made of, and how many of their documents are found so far. */
const register = {
  pages: [] as Buffer[],
  templates: [] as readonly Template[],
  pageSize: 0,
  found: 0,
  empty: Buffer.alloc(0),
  numberOf: (at: number): number => FIRST_NUMBER + at,
};

/** The sample companies, each cut where its number, its time of loading and the end of its name stand. */
function templates(): readonly Template[] {
  return readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && !name.includes('reference'))
    .toSorted()
    .flatMap((name) => documentsIn(JSON.parse(readFileSync(new URL(name, SAMPLES), 'utf8'))))
    .flatMap((document) => {
      const company = isJsonObject(document) ? document['Vrvirksomhed'] : undefined;
      if (!isJsonObject(company)) return [];
      const marked = { ...company, cvrNummer: '<number>', sidstIndlaest: '<loaded>' };
      const parts = JSON.stringify({ Vrvirksomhed: marked })
        .replaceAll(/(?<="navn":"[^"]* (?:ApS|I\/S|Fond))(?=")/gu, '<renamed>')
        .split(/"?(<number>|<loaded>|(?<!")<renamed>)"?/u);
      return (number: number, loadedAt: string, renamed: string) => {
        const values = new Map<string, unknown>([
          ['<number>', number],
          ['<loaded>', `"${loadedAt}"`],
          ['<renamed>', `${renamed}"`],
        ]);
        return parts.map((part) => values.get(part) ?? part).join('');
      };
    });
}

const answer = (hits: readonly string[], total: number): string => {
  const head = JSON.stringify({ took: 1, timed_out: false, _shards: SHARDS });
  return `${head.slice(0, -1)},"hits":{"total":${total},"max_score":null,"hits":[${hits.join(',')}]}}`;
};

/** Adds whole pages of these companies' documents behind the others; returns their bytes. */
async function addPages(companies: readonly number[], renamed = ''): Promise<number> {
  const { pages, pageSize, templates, numberOf } = register;
  let bytes = 0;
  for (let from = 0; from < companies.length; from += pageSize) {
    const behind = pages.length * pageSize;
    const hits = companies.slice(from, from + pageSize).map((company, at) => {
      const [number, position] = [numberOf(company), behind + at];
      const loadedAt = FIRST_LOADED + position * 1_000;
      const source = templates[company % templates.length]?.(number, new Date(loadedAt).toISOString(), renamed);
      return `{"_index":"cvr-v-virksomhed","_type":"_doc","_id":"${number}","_score":null,"_source":${source},"sort":[${loadedAt},"${FIRST_NUMBER + position}"]}`;
    });
    const text = answer(hits, behind + hits.length);
    bytes += text.length;
    pages.push(await compress(text, { level: 6 }));
  }
  return bytes;
}

/** Where the pages begin behind which a search asks. */
async function pageAfter(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { size, search_after: after } = JSON.parse(Buffer.concat(chunks).toString());
  const from = after[0] < FIRST_LOADED ? 0 : Number(after[1]) - FIRST_NUMBER + 1;
  if (request.url?.includes('produktionsenhed') || from >= register.found) return register.empty;
  const page = register.pages[from / register.pageSize];
  if (size !== register.pageSize || page === undefined) throw new Error(`no page of ${size} begins at ${from}`);
  return page;
}

const server = createServer(async (request, response) => {
  try {
    const body = await pageAfter(request);
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body);
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
});

export const verbs = {
  /**
   * Makes the documents; none is found yet. Returns the address and the bytes of a document. `valid`: with numbers that pass
   * the register's check, as cvrNumber counts them.
   */
  async serve(options: { readonly documents: number; readonly pageSize: number; readonly valid?: true }) {
    const { documents, pageSize, valid } = options;
    if (valid) register.numberOf = (at) => Number(cvrNumber(at));
    Object.assign(register, { pageSize, templates: templates(), empty: await compress(answer([], documents)) });
    const bytes = await addPages(Array.from({ length: documents }, (_, at) => at));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    return { baseUrl: `http://127.0.0.1:${address.port}`, documentBytes: bytes / documents };
  },
  /** Gives companies another name, each in a document behind all others; they are found at once. */
  async rename(companies: readonly number[]) {
    await addPages(companies, ' II');
    register.found = register.pages.length * register.pageSize;
  },
  /** Lets so many documents be found. */
  find: (count: number) => {
    register.found = count;
  },
};

answerWith(verbs);
