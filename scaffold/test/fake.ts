/** My CRM on this machine, scripted for the conformance suite: as strict as the real one, with the same answers. */
import {
  type EmulatorAnswer,
  type EmulatorRequest,
  type FakeCrm,
  type PropertyValue,
  serveEmulator,
} from 'cvrsync/testing';

export const TOKEN = 'a-secret-token';
const PAGE = 100;

type Values = Readonly<Record<string, PropertyValue>>;

export async function startFake(): Promise<FakeCrm> {
  const companies = new Map<string, Values>();
  const merged = new Map<string, string>();
  let last = 100;

  const lost = (id: string) => {
    const mergedInto = merged.get(id);
    return mergedInto === undefined ? { id, deleted: true } : { id, mergedInto };
  };
  const update = ({ id, properties }: { id: string; properties: Values }) => {
    const values = companies.get(id);
    if (values === undefined) return lost(id);
    const { email = null } = properties;
    if (email !== null && !String(email).includes('@')) return { id, errors: { email: 'is no address' } };
    companies.set(id, { ...values, ...properties });
    return { id, ok: true };
  };
  const list = (after: string) => {
    const left = [...companies].filter(([id]) => Number(id) > Number(after));
    const page = left.slice(0, PAGE).map(([id, values]) => ({ id, values }));
    return { companies: page, next: left.length > PAGE ? page.at(-1)?.id : null };
  };

  const answer = ({ method, url, headers, body }: EmulatorRequest): EmulatorAnswer => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401 };
    const asked = body === '' ? {} : JSON.parse(body);
    switch (`${method} ${url.pathname}`) {
      case 'GET /account':
        return { status: 200, body: { id: 1, name: 'Fake account' } };
      case 'GET /companies':
        return { status: 200, body: list(url.searchParams.get('after') ?? '') };
      case 'POST /companies/read': {
        const read = (id: string) => (companies.has(id) ? { id, values: companies.get(id) } : lost(id));
        return { status: 200, body: { companies: asked.ids.map(read) } };
      }
      case 'POST /companies/update':
        return { status: 200, body: { companies: asked.companies.map(update) } };
      default:
        return { status: 404 };
    }
  };

  const served = await serveEmulator(answer);
  return {
    settings: { baseUrl: served.url, token: TOKEN },
    add(properties) {
      last += 1;
      companies.set(String(last), { ...properties });
      return String(last);
    },
    get: (id) => companies.get(id),
    remove: (id) => void companies.delete(id),
    edit: (id, properties) => void companies.set(id, { ...companies.get(id), ...properties }),
    merge(primary, other) {
      companies.delete(other);
      merged.set(other, primary);
      return primary;
    },
    fault: served.fault,
    close: served.close,
  };
}
