/** The webhooks an emulated account posts: signed, in batches, in any order, some of them twice, again after a failure. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signatureOf } from '../../read/signature.ts';
import { type Happening, type HubspotAccount, textOf } from '../account.ts';
import type { EmulatedWebhookOptions } from '../options.ts';

/** The posting side of an account. */
export interface Webhooks {
  subscribe(options: EmulatedWebhookOptions): void;
  notify(happening: Happening): void;
  /** Resolves when everything that happened was posted, or given up. */
  settled(): Promise<void>;
  close(): void;
}

type Event = Readonly<Record<string, unknown>>;

const MAX_EVENTS = 100;
/** HubSpot tries ten times in 24 hours; the emulator is not that patient. */
const TRIES = 10;
const TRY_AGAIN_MS = 100;
/** HubSpot waits that long for an answer. */
const DEADLINE_MS = 5_000;
/** One event in so many is sent twice. */
const TWICE_IN = 5;

/** Posts nothing until subscribed. */
export function openWebhooks(account: HubspotAccount): Webhooks {
  const closing = new AbortController();
  const posts = new Set<Promise<void>>();
  let options: EmulatedWebhookOptions | undefined;
  let waiting: Event[] = [];
  let eventId = 100;

  const track = (work: Promise<void>) => {
    const tracked = work.finally(() => posts.delete(tracked));
    posts.add(tracked);
  };
  const event = (type: string, id: string, rest: object = {}): Event => {
    eventId += 1;
    const isGeneric = options?.shape !== 'company';
    return {
      eventId,
      subscriptionId: 1_234,
      portalId: account.portalId,
      appId: 5_678,
      occurredAt: account.now(),
      subscriptionType: `${isGeneric ? 'object' : 'company'}.${type}`,
      ...(isGeneric ? { objectTypeId: '0-2' } : {}),
      attemptNumber: 0,
      objectId: Number(id),
      changeSource: 'CRM_UI',
      ...rest,
    };
  };
  const eventsOf = (happening: Happening): readonly Event[] => {
    const { company } = happening;
    switch (happening.kind) {
      case 'created':
        return [event('creation', company.id, { changeFlag: 'CREATED' })];
      case 'deleted':
        return [event('deletion', company.id, { changeFlag: 'DELETED' })];
      case 'restored':
        return [event('restore', company.id, { changeFlag: 'RESTORED' })];
      case 'edited':
        return happening.names
          .filter((name) => (options?.properties ?? ['cvr_number']).includes(name))
          .map((name) =>
            event('propertyChange', company.id, { propertyName: name, propertyValue: textOf(company, name) ?? '' }),
          );
      case 'merged': {
        // HubSpot sends no event for properties that the merge changed.
        const ids = [happening.primary.id, happening.other.id];
        const merge = {
          primaryObjectId: Number(happening.primary.id),
          mergedObjectIds: [Number(happening.other.id)],
          newObjectId: Number(company.id),
          numberOfPropertiesMoved: 0,
        };
        return [
          ...ids.map((id) => event('deletion', id, { changeFlag: 'DELETED' })),
          event('merge', company.id, merge),
        ];
      }
    }
  };
  const flush = async (to: EmulatedWebhookOptions): Promise<void> => {
    await sleep(to.delayMs ?? 5, undefined, { signal: closing.signal }).catch(() => {});
    const events = waiting;
    waiting = [];
    if (closing.signal.aborted || events.length === 0) return;
    const shuffled = account.shuffle(
      events.flatMap((each) => (Number(each.eventId) % TWICE_IN === 0 ? [each, each] : [each])),
    );
    for (let at = 0; at < shuffled.length; at += MAX_EVENTS) track(post(to, shuffled.slice(at, at + MAX_EVENTS)));
  };
  const post = async (to: EmulatedWebhookOptions, events: readonly Event[]): Promise<void> => {
    for (let attemptNumber = 0; attemptNumber < TRIES && !closing.signal.aborted; attemptNumber += 1) {
      const body = Buffer.from(JSON.stringify(events.map((each) => ({ ...each, attemptNumber }))));
      const timestamp = String(account.now());
      const signature = signatureOf(to.clientSecret, { method: 'POST', url: to.url, body }, timestamp);
      const headers = {
        'content-type': 'application/json',
        'x-hubspot-signature-v3': signature,
        'x-hubspot-request-timestamp': timestamp,
      };
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(DEADLINE_MS)]);
      const answer = await fetch(to.url, { method: 'POST', headers, body, signal }).catch(() => undefined);
      await answer?.arrayBuffer().catch(() => {});
      if (answer?.ok === true) return;
      await sleep(TRY_AGAIN_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  };

  return {
    subscribe(to) {
      options = to;
    },
    notify(happening) {
      if (options === undefined) return;
      const isFirst = waiting.length === 0;
      waiting.push(...eventsOf(happening));
      if (isFirst && waiting.length > 0) track(flush(options));
    },
    async settled() {
      while (posts.size > 0) await Promise.all(posts);
    },
    close: () => closing.abort(),
  };
}
