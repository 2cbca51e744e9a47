/** An emulated CRM in a process of its own, with its limits on and every write timed. */

import type { CrmEmulator } from '../../providers/kit/emulator/emulator.ts';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { startSalesforceEmulator } from '../../providers/kit/salesforce/emulator.ts';
import type { Window } from '../../providers/provider.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { answerWith } from './child.ts';

export type CrmName = 'hubspot' | 'salesforce';

/** The calls that read and write records, between the first and the last. */
export interface Calls {
  readonly count: number;
  readonly refused: number;
  readonly failed: number;
  readonly spanMs: number;
  /** The emulator's own time for one, in ms. */
  readonly ownMs: number;
}

let crm: CrmEmulator | undefined;
const writtenAt = new Map<string, number>();

const opened = (): CrmEmulator => {
  if (crm === undefined) throw new Error('start comes first');
  return crm;
};

export const verbs = {
  /** Starts the account with so many companies; returns the provider's settings and the record ids. */
  async start({
    name,
    rate,
    records,
    numbered,
  }: {
    name: CrmName;
    rate: Window;
    records: number;
    /** Numbers them in a property; blank companies where absent. */
    numbered?: { property: string };
  }) {
    crm = name === 'hubspot' ? await startHubspotEmulator({ rate }) : await startSalesforceEmulator({ rate });
    const emulator = crm;
    emulator.onWrite = (id) => void writtenAt.set(id, performance.timeOrigin + performance.now());
    const nameProperty = name === 'hubspot' ? 'name' : 'Name';
    const ids = Array.from({ length: records }, (_, at) =>
      emulator.add({
        [nameProperty]: `Opdigtet ${at}`,
        ...(numbered !== undefined && { [numbered.property]: cvrNumber(at) }),
      }),
    );
    return { settings: emulator.settings, ids };
  },
  /** How many records were written since the start. */
  written: (): number => writtenAt.size,
  /** When each record was last written, in ms since 1970. */
  writes: (): ReadonlyMap<string, number> => writtenAt,
  /** The calls of a backfill so far: pages of a scan, with the time of the first and the last, and pages read again. */
  scans() {
    const pages = opened().calls.filter(({ path }) => /companies\?limit|\/query/u.test(path));
    const reads = opened().calls.filter(({ path }) => /batch\/read|composite\/sobjects/u.test(path)).length;
    const refused = opened().calls.filter(({ status }) => status >= 400).length;
    return { pages: pages.length, first: pages[0]?.at ?? 0, last: pages.at(-1)?.at ?? 0, reads, refused };
  },
  /** What the records' calls came to. */
  calls(): Calls {
    const calls = opened().calls.filter((call) => /batch|composite/u.test(call.path));
    const first = calls[0]?.at ?? 0;
    const last = calls.at(-1)?.at ?? 0;
    const during = opened().calls.filter((call) => call.at >= first && call.at <= last);
    return {
      count: during.length,
      refused: opened().calls.filter((call) => call.status === 429 || call.status === 403).length,
      failed: opened().calls.filter((call) => call.status >= 400).length,
      spanMs: last - first,
      ownMs: calls.reduce((sum, call) => sum + call.ms, 0) / Math.max(1, calls.length),
    };
  },
};

answerWith(verbs);
