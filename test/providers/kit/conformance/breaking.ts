/** How a sound provider is broken in one place. */
import {
  type Connection,
  type HttpResponse,
  type Outcome,
  type Property,
  type PropertyValue,
  ProviderError,
} from '../../../../providers/provider.ts';
import type { Breakage, Call } from './toy.ts';

export type Values = Readonly<Record<string, PropertyValue>>;

export const connection = (broken: (sound: Connection, call: Call) => Partial<Connection>): Breakage => ({
  connection: broken,
});
/** Changes every patch on its way. */
export const patching = (change: (values: Values) => Values): Breakage =>
  connection((sound) => ({
    update: (patches, signal) =>
      sound.update(
        patches.map(({ id, properties }) => ({ id, properties: change(properties) })),
        signal,
      ),
  }));
/** Changes every outcome of an update. */
export const judging = (change: (outcome: Outcome) => Outcome): Breakage =>
  connection((sound) => ({ update: async (patches, signal) => (await sound.update(patches, signal)).map(change) }));
/** Lists a property without some of its marks. */
export const unmarked = (property: string, marks: readonly (keyof Property)[]): Breakage =>
  connection((sound) => ({
    properties: async (signal) =>
      (await sound.properties(signal)).map((each) =>
        each.name === property ? { ...each, ...Object.fromEntries(marks.map((mark) => [mark, undefined])) } : each,
      ),
  }));
/** Another answer instead of an error that fits. */
export const recovering = (fits: (error: ProviderError) => boolean, instead: () => unknown): Breakage => ({
  call: (sound) => async (path, signal, body) => {
    try {
      return await sound(path, signal, body);
    } catch (error) {
      if (!(error instanceof ProviderError) || !fits(error)) throw error;
      // What a broken provider makes up fits no type.
      return instead() as never;
    }
  },
});
/** An answer that says that all went well, in the place of one that says nothing. */
export const answering = (fits: (answer: HttpResponse) => boolean): Breakage => ({
  http: (sound) => async (request) => {
    const answer = await sound(request);
    if (!fits(answer) || !/\/(read|update)$/.test(request.url)) return answer;
    const { ids = [], patches = [] } = JSON.parse(request.body ?? '{}');
    const found = ids.map((id: string) => ({ kind: 'found', id, properties: {} }));
    const written = patches.map(({ id }: { id: string }) => ({ kind: 'written', id }));
    return { ...answer, status: 200, body: JSON.stringify({ results: [...found, ...written] }) };
  },
});
export const refuse = (): never => {
  throw new ProviderError('refused', 'the toy is strange today');
};
export const isReset = (error: unknown): boolean => error instanceof ProviderError && /none came/.test(error.message);
export const refuseReset = (error: unknown): never => {
  if (isReset(error)) return refuse();
  throw error;
};
export const saying = (text: RegExp) => (error: ProviderError) => text.test(error.message);
export const mapped = (values: Values, change: (value: PropertyValue, name: string) => PropertyValue): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
