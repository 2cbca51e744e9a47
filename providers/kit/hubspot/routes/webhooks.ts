/** The webhooks of an emulated account: signed, in batches, in any order, some sent twice, all retried after a failure. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signatureOf } from '../../../hubspot/read/signature.ts';
import { type Happening, type HubspotAccount, textOf } from '../account/account.ts';
import type { EmulatedWebhookOptions } from '../account/options.ts';

/** The posting side of an account. */
export interface Webhooks {
  subscribe(options: EmulatedWebhookOptions): void;
  notify(happening: Happening): void;
  /** Resolves when every event was posted or given up. */
  settled(): Promise<void>;
  close(): void;
}

type Event = Readonly<Record<string, unknown>>;

const MAX_EVENTS = 100;
/** HubSpot tries ten times in 24 hours; the emulator does not wait as long. */
const TRIES = 10;
const TRY_AGAIN_MS = 100;
/** HubSpot waits this long for an answer. */
const DEADLINE_MS = 5_000;
/** One event in this many is sent twice. */
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
  const event = (draft: Draft, shape: EmulatedWebhookOptions['shape']): Event => {
    eventId += 1;
    return eventOf(account, eventId, draft, shape);
  };
  const flush = async (to: EmulatedWebhookOptions): Promise<void> => {
    await sleep(to.delayMs ?? 5, undefined, { signal: closing.signal }).catch(() => {});
    const events = waiting;
    waiting = [];
    if (closing.signal.aborted || events.length === 0) return;
    const shuffled = account.shuffle(
      events.flatMap((each) => (Number(each.eventId) % TWICE_IN === 0 ? [each, each] : [each])),
    );
    for (let at = 0; at < shuffled.length; at += MAX_EVENTS)
      track(post(account, to, shuffled.slice(at, at + MAX_EVENTS), closing.signal));
  };

  return {
    subscribe(to) {
      options = to;
    },
    notify(happening) {
      if (options === undefined) return;
      const { shape, properties = ['cvr_number'] } = options;
      const isFirst = waiting.length === 0;
      waiting.push(...draftsOf(happening, properties).map((draft) => event(draft, shape)));
      if (isFirst && waiting.length > 0) track(flush(options));
    },
    async settled() {
      while (posts.size > 0) await Promise.all(posts);
    },
    close: () => closing.abort(),
  };
}

interface Draft {
  readonly type: string;
  readonly id: string;
  readonly details: Event;
}

/** The events of a happening; for an edit, one for each subscribed property. */
function draftsOf(happening: Happening, subscribed: readonly string[]): readonly Draft[] {
  const { company } = happening;
  const { id } = company;
  switch (happening.kind) {
    case 'created':
      return [{ type: 'creation', id, details: { changeFlag: 'CREATED' } }];
    case 'deleted':
      return [deletion(id)];
    case 'restored':
      return [{ type: 'restore', id, details: { changeFlag: 'RESTORED' } }];
    case 'edited':
      return happening.names
        .filter((name) => subscribed.includes(name))
        .map((name) => ({
          type: 'propertyChange',
          id,
          details: { propertyName: name, propertyValue: textOf(company, name) ?? '' },
        }));
    case 'merged': {
      const { primary, other } = happening;
      const merge = {
        primaryObjectId: Number(primary.id),
        mergedObjectIds: [Number(other.id)],
        newObjectId: Number(id),
        numberOfPropertiesMoved: 0,
      };
      // HubSpot sends no event for properties that the merge changed.
      return [deletion(primary.id), deletion(other.id), { type: 'merge', id, details: merge }];
    }
  }
}

const deletion = (id: string): Draft => ({ type: 'deletion', id, details: { changeFlag: 'DELETED' } });

/** An event of HubSpot's generic shape, or of the older one that only companies have. */
function eventOf(
  { portalId, now }: HubspotAccount,
  eventId: number,
  { type, id, details }: Draft,
  shape: EmulatedWebhookOptions['shape'],
): Event {
  const isGeneric = shape !== 'company';
  return {
    eventId,
    subscriptionId: 1_234,
    portalId,
    appId: 5_678,
    occurredAt: now(),
    subscriptionType: `${isGeneric ? 'object' : 'company'}.${type}`,
    ...(isGeneric ? { objectTypeId: '0-2' } : {}),
    attemptNumber: 0,
    objectId: Number(id),
    changeSource: 'CRM_UI',
    ...details,
  };
}

/** Posts events until they are accepted, or were posted too often. */
async function post(
  account: HubspotAccount,
  to: EmulatedWebhookOptions,
  events: readonly Event[],
  closing: AbortSignal,
): Promise<void> {
  for (let attemptNumber = 0; attemptNumber < TRIES && !closing.aborted; attemptNumber += 1) {
    const body = Buffer.from(JSON.stringify(events.map((each) => ({ ...each, attemptNumber }))));
    const timestamp = String(account.now());
    const signature = signatureOf(to.clientSecret, { method: 'POST', url: to.url, body }, timestamp);
    const headers = {
      'content-type': 'application/json',
      'x-hubspot-signature-v3': signature,
      'x-hubspot-request-timestamp': timestamp,
    };
    const signal = AbortSignal.any([closing, AbortSignal.timeout(DEADLINE_MS)]);
    const answer = await fetch(to.url, { method: 'POST', headers, body, signal }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => {});
    if (answer?.ok === true) return;
    await sleep(TRY_AGAIN_MS, undefined, { signal: closing }).catch(() => {});
  }
}
