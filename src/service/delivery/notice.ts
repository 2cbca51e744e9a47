/** Notices to a monitor's recipients about its webhook; in Danish, like all mail. */

import { DANISH_ZONE } from '../../protocol/text/zone-clock.ts';
import type { Notice } from '../mail/queue.ts';
import type { NoticeKind } from '../monitors/health.ts';
import { maskedAddress } from '../monitors/webhook-address.ts';

export interface Trouble {
  readonly monitor: string;
  readonly name: string;
  readonly url: string | null;
  readonly kind: NoticeKind;
  readonly recipients: readonly string[];
  readonly failingSince: number;
  readonly attempts: number;
  readonly error: string | null;
}

const TEXTS: Readonly<Record<NoticeKind, readonly [subject: string, text: string]>> = {
  failing: [
    'webhooken svarer ikke',
    'Ingen levering er lykkedes i to timer. Der prøves fortsat. Lykkes ingen inden for fem døgn i alt, slås overvågningens webhook fra.',
  ],
  failed: [
    'en ændring kunne ikke leveres',
    'Det sidste forsøg på at levere en ændring til webhooken er mislykkedes. Den prøves ikke igen af sig selv, men kan sendes igen, når webhooken svarer.',
  ],
  halfway: [
    'webhooken svarer ikke',
    'Ingen levering er lykkedes i to et halvt døgn. Lykkes ingen inden for fem døgn i alt, slås overvågningens webhook fra.',
  ],
  disabled: [
    'webhooken er slået fra',
    'Ingen levering er lykkedes i fem døgn. Overvågningens webhook er derfor slået fra. Det, der sker imens, gemmes i 14 døgn og kan sendes, når den er slået til igen.',
  ],
  gone: [
    'webhooken er slået fra',
    'Webhooken har svaret, at den ikke vil have flere leveringer. Den er derfor slået fra. Det, der sker imens, gemmes i 14 døgn og kan sendes, når den er slået til igen.',
  ],
};

const timeIn = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat('da-DK', { timeZone, dateStyle: 'long', timeStyle: 'short' }).format(at);

/** Shows only the host of the webhook's address: the rest may hold a key. */
export function noticeOf(trouble: Trouble, timeZone = DANISH_ZONE): Notice {
  const { monitor, name, kind, recipients, failingSince, attempts, error } = trouble;
  const [what, text] = TEXTS[kind];
  const lines = [
    `Webhook: ${trouble.url === null ? '-' : maskedAddress(trouble.url)}`,
    `Seneste svar: ${error ?? 'ingen fejl'}`,
    `Mislykket siden: ${timeIn(timeZone, failingSince)} (${attempts} forsøg)`,
  ];
  return {
    monitor,
    recipients,
    subject: `${name}: ${what}`,
    text: `${text}\n\n${lines.join('\n')}\n\nSe leveringerne med: cvrsync deliveries list --monitor ${monitor}`,
  };
}
