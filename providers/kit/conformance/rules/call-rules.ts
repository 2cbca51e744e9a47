/** Rules about the calls that a verb makes. */
import type { HttpRequest } from '../../../provider.ts';
import { brief, insist, insistSame } from '../lab/insist.ts';
import { type Lab, lineOf, live } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { holdsSecret } from '../lab/secrets.ts';
import { verbsBeside } from '../lab/verbs.ts';

const MOST_CALLS_OF_CHECK = 2;

/** Recognises calls of a search that lags or ends: the subject names them, or a find is not sure. */
async function searchesOf({ connection, requests, isCall, text }: Lab): Promise<(request: HttpRequest) => boolean> {
  const before = requests.length;
  const isUnsure = (await connection.find?.(text, 'Birk', live()))?.sure === false;
  const unsure = new Set(isUnsure ? requests.slice(before).map(lineOf) : []);
  return (request) => unsure.has(lineOf(request)) || isCall('search', request);
}

export const CALL_RULES: readonly ConformanceRule[] = [
  {
    name: 'check-is-cheap',
    about: 'check makes one or two calls, apart from those of a sign-in',
    why: 'cvrsync calls check often, also to probe a paused account, and its calls delay changes',
    needs: ['check'],
    run: async ({ connection, calls }) => {
      await connection.check(live());
      const before = calls();
      await connection.check(live());
      const made = calls() - before;
      insist(made <= MOST_CALLS_OF_CHECK, `check made ${made} calls`);
    },
  },
  {
    name: 'scans-without-search',
    about: 'a scan does not use a search whose index lags or whose pages end',
    why: 'a search may end after 10,000 records and leave out new ones, whose companies silently get no link',
    needs: ['scan'],
    run: async (lab) => {
      const isSearch = await searchesOf(lab);
      const before = lab.calls();
      await lab.scan();
      const [searched] = lab.requests.slice(before).filter(isSearch).map(lineOf);
      insist(searched === undefined, `the scan called ${brief(searched)}, which is a search`);
    },
  },
  {
    name: 'no-secret-in-addresses',
    about: 'no call has a secret in its address',
    why: 'addresses appear in the logs of proxies and of the CRM, and in errors',
    run: async (lab) => {
      const { ids, text, subject, requests } = lab;
      if (subject.lacks?.read === undefined) await lab.read(ids);
      await lab.write(ids, { [text]: 'Ny' });
      for (const [, work] of await verbsBeside(lab)) await work();
      const shown = requests.filter(({ url }) => holdsSecret(url, subject.secrets)).map(lineOf);
      insistSame([...new Set(shown)], [], 'calls with a secret in their address');
    },
  },
];
