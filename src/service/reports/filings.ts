/** Reads the entries of the filing index: what companies published, and where. */
import { isJsonObject, type JsonObject } from '../../protocol/text/json.ts';
import { normaliseTime } from '../../protocol/text/time.ts';
import type { ReportPeriod } from './document/contexts.ts';

export interface Filing {
  /** The index's `_id`, as `urn:ofk:oid:9366144`. */
  readonly id: string;
  readonly cvr: number;
  readonly publishedAt: string;
  /** When the index last changed it. Polls follow this time. */
  readonly updatedAt: string;
  readonly period: ReportPeriod | undefined;
  /** Whether it claims to be an annual report, as interim ones also do. */
  readonly isAnnual: boolean;
  readonly reportUrl: string | null;
  readonly xbrlUrl: string | null;
  /** At most four machine-readable documents, texts before figures: the Danish instance, then the inline page. */
  readonly documents: readonly string[];
}

/** A record of the index that is not a filing of accounts; the reason is for people. */
export interface NoFiling {
  readonly id: string | undefined;
  readonly reason: string;
}

const MAX_DOCUMENTS = 4;

/** Reads one hit. Never throws. */
export function readFiling(hit: unknown): Filing | NoFiling {
  const id = isJsonObject(hit) && typeof hit['_id'] === 'string' ? hit['_id'] : undefined;
  const source = isJsonObject(hit) && isJsonObject(hit['_source']) ? hit['_source'] : undefined;
  if (id === undefined || source === undefined) return { id, reason: 'is no record of the filing index' };
  const head = headOf(source);
  if (typeof head === 'string') return { id, reason: head };
  return { id, ...head, period: periodIn(source['regnskab']), ...documentsOf(source['dokumenter']) };
}

/** Who published and when, or the reason why the record is not a filing. */
function headOf(source: JsonObject): Pick<Filing, 'cvr' | 'publishedAt' | 'updatedAt'> | string {
  const cvr = Number(source['cvrNummer'] ?? Number.NaN);
  const publishedAt = timeIn(source['offentliggoerelsesTidspunkt']) ?? timeIn(source['indlaesningsTidspunkt']);
  const updatedAt = timeIn(source['sidstOpdateret']) ?? publishedAt;
  const kind = source['offentliggoerelsestype'];
  if (typeof kind === 'string' && kind !== 'regnskab') return `is of another kind: ${kind.slice(0, 40)}`;
  if (!Number.isInteger(cvr) || cvr < 10_000_000 || cvr > 99_999_999) return 'has no company number';
  if (publishedAt === undefined || updatedAt === undefined) return 'has no time of publication';
  return { cvr, publishedAt, updatedAt };
}

/** The documents to read and to show. If none claims to be an annual report, other documents count. */
function documentsOf(list: unknown): Pick<Filing, 'isAnnual' | 'reportUrl' | 'xbrlUrl' | 'documents'> {
  const documents = Array.isArray(list) ? list.flatMap(readDocument) : [];
  const reports = documents.filter(({ type }) => type.startsWith('AARSRAPPORT'));
  const usable = reports.length > 0 ? reports : documents;
  const readable = usable.filter(({ mime }) => mime === XML || mime === PAGE).sort((a, b) => rank(a) - rank(b));
  return {
    isAnnual: reports.length > 0,
    reportUrl: usable.find(({ mime }) => mime === 'application/pdf')?.url ?? null,
    xbrlUrl: readable[0]?.url ?? null,
    documents: readable.slice(0, MAX_DOCUMENTS).map(({ url }) => url),
  };
}

const XML = 'application/xml';
const PAGE = 'application/xhtml+xml';
const rank = ({ mime }: { readonly mime: string }): number => (mime === XML ? 0 : 1);

function readDocument(
  json: unknown,
): readonly { readonly url: string; readonly mime: string; readonly type: string }[] {
  if (!isJsonObject(json)) return [];
  const { dokumentUrl: url, dokumentMimeType: mime, dokumentType: type } = json;
  // Mails and CRMs show the address to people, so it must be a web address.
  if (typeof url !== 'string' || url.length > 2_000 || !/^https?:\/\//i.test(url) || typeof mime !== 'string')
    return [];
  return [{ url, mime: mime.toLowerCase(), type: typeof type === 'string' ? type.toUpperCase() : '' }];
}

function periodIn(regnskab: unknown): ReportPeriod | undefined {
  const period = isJsonObject(regnskab) ? regnskab['regnskabsperiode'] : undefined;
  const end = isJsonObject(period) ? dayIn(period['slutDato']) : undefined;
  return end === undefined || !isJsonObject(period) ? undefined : { start: dayIn(period['startDato']) ?? null, end };
}

const dayIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^\d{4}-\d{2}-\d{2}/.exec(value)?.[0] : undefined;

const timeIn = (value: unknown): string | undefined => (typeof value === 'string' ? normaliseTime(value) : undefined);
