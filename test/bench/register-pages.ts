/** The register's distribution for the bench of the first load: whole pages, compressed once, of documents made from the samples. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isJsonObject } from '../../src/protocol/text/json.ts';
import { documentsIn } from '../../src/service/register/source/source.ts';
import { answerWith } from './child.ts';

const SAMPLES = new URL('../service/samples/cvr-es/', import.meta.url);
const FIRST_NUMBER = 10_000_000;
const FIRST_LOADED = Date.UTC(2020, 0, 1);
const SHARDS = { total: 6, successful: 6, skipped: 0, failed: 0 };
const compress = promisify(gzip);

/** Compressed pages, and how many of their documents are found so far. */
const register = { pages: [] as Buffer[], pageSize: 0, found: 0, empty: Buffer.alloc(0) };

/** The sample companies, each cut where its number and its time of loading stand. */
function templates(): readonly ((number: number, loadedAt: string) => string)[] {
  return readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && !name.includes('reference'))
    .toSorted()
    .flatMap((name) => documentsIn(JSON.parse(readFileSync(new URL(name, SAMPLES), 'utf8'))))
    .flatMap((document) => {
      const company = isJsonObject(document) ? document['Vrvirksomhed'] : undefined;
      if (!isJsonObject(company)) return [];
      const marked = { ...company, cvrNummer: '<number>', sidstIndlaest: '<loaded>' };
      const parts = JSON.stringify({ Vrvirksomhed: marked }).split(/"(<number>|<loaded>)"/u);
      return (number: number, loadedAt: string) =>
        parts.map((part) => (part === '<number>' ? number : part === '<loaded>' ? `"${loadedAt}"` : part)).join('');
    });
}

const answer = (hits: readonly string[], total: number): string => {
  const head = JSON.stringify({ took: 1, timed_out: false, _shards: SHARDS });
  return `${head.slice(0, -1)},"hits":{"total":${total},"max_score":null,"hits":[${hits.join(',')}]}}`;
};

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
  /** Makes the documents; none is found yet. Returns the address and the bytes of a document. */
  async serve({ documents, pageSize }: { readonly documents: number; readonly pageSize: number }) {
    const made = templates();
    let bytes = 0;
    for (let from = 0; from < documents; from += pageSize) {
      const hits = Array.from({ length: pageSize }, (_, at) => {
        const number = FIRST_NUMBER + from + at;
        const loadedAt = FIRST_LOADED + (from + at) * 1_000;
        const source = made[(from + at) % made.length]?.(number, new Date(loadedAt).toISOString());
        return `{"_index":"cvr-v-virksomhed","_type":"_doc","_id":"${number}","_score":null,"_source":${source},"sort":[${loadedAt},"${number}"]}`;
      });
      const text = answer(hits, documents);
      bytes += text.length;
      register.pages.push(await compress(text, { level: 6 }));
    }
    Object.assign(register, { pageSize, empty: await compress(answer([], documents)) });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    return { baseUrl: `http://127.0.0.1:${address.port}`, documentBytes: bytes / documents };
  },
  /** Lets so many documents be found. */
  find: (count: number) => {
    register.found = count;
  },
};

answerWith(verbs);
