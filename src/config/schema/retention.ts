/** How long each kind of data is kept: the part `retention` of the configuration. */
import Type from 'typebox';
import { CLOSED } from './shapes.ts';

const days = (what: string, preset: number) =>
  Type.Integer({ minimum: 1, maximum: 36_500, default: preset, description: `Days to keep ${what}.` });

export const retention = Type.Object(
  {
    bodies: days('bodies of applied webhooks', 30),
    receipts: days('applied webhooks, so long a repeated one is recognised,', 90),
    decisions: days('decisions, notes, and facts without a linked record', 400),
    runs: days('plans and results of what people had the dashboard do', 90),
    audit: days('entries of the audit', 400),
    changes: days('changes that are told', 30),
    mails: days('mails that were sent or given up', 30),
    deliveries: days('ended deliveries, and attempts,', 90),
    news: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 36_500,
        description: 'Days to keep news items (default: for good).',
      }),
    ),
  },
  { ...CLOSED, default: {}, description: 'How long to keep each kind of data.' },
);
