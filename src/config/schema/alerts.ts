import Type, { type Static } from 'typebox';
import type { ConfigProblem } from './fill.ts';
import { CLOSED, text } from './shapes.ts';

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** The `alerts` part of the configuration. */
export const alerts = Type.Object(
  {
    webhook: Type.Optional(
      Type.String({
        pattern: '^https?://[^/\\s]+(/\\S*)?$',
        secret: true,
        description: 'Address that receives { "text": ... } by POST: Slack, Teams or Mattermost.',
        examples: ['https://hooks.slack.com/services/…'],
      }),
    ),
    allow: Type.Array(text('An address or a network, as 10.1.0.0/16.'), {
      default: [],
      description: 'Private networks that the webhook may use.',
    }),
    mail: Type.Optional(
      Type.Object(
        {
          to: Type.Array(
            Type.String({
              pattern: '^[^\\s<>@]+@[^\\s<>@]+$',
              description: 'An address.',
              examples: ['ida@example.com'],
            }),
            { minItems: 1, maxItems: 20, description: 'Recipients of the mail.' },
          ),
          url: Type.Optional(
            Type.String({
              pattern: '^smtps?://',
              secret: 'url',
              description: 'Mail server: smtp://user:password@host:port (default: that of service.smtp).',
              examples: ['smtp://user:password@host:port'],
            }),
          ),
          from: Type.Optional(text('Sender (default: that of service.smtp).')),
        },
        { ...CLOSED, description: 'Alerts by mail.' },
      ),
    ),
    digest: Type.Optional(
      Type.Object(
        {
          day: Type.Union(
            WEEKDAYS.map((day) => Type.Literal(day)),
            { default: 'monday', description: `Day of the week: ${WEEKDAYS.join(', ')}.` },
          ),
          hour: Type.Integer({
            minimum: 0,
            maximum: 23,
            default: 8,
            description: 'Hour of the day, in the configured time zone.',
          }),
          language: Type.Union([Type.Literal('en'), Type.Literal('da')], {
            default: 'en',
            description: 'Language: en, da.',
          }),
        },
        {
          ...CLOSED,
          description:
            'A digest once a week: how much was written, kept and undone, what waits, what failed, with links if admin.publicUrl is set; off by default. `cvrsync alerts digest` shows it.',
        },
      ),
    ),
    reviewOver: Type.Integer({
      minimum: 0,
      default: 100,
      description: 'Alert if more entries than this wait in review for a day.',
    }),
    registerBehindMinutes: Type.Integer({
      minimum: 1,
      default: 60,
      description: 'Alert if the register or another source cannot be read for this long.',
    }),
  },
  {
    ...CLOSED,
    description:
      'One alert when something needs a person (credentials, failed work, the register, the safety limit, the disk, failing webhooks, a long review list, a failed backup), and one when it is over.',
  },
);

/** The alerts in force, with the mail server of the service as the default. */
export interface AlertsConfig extends Omit<Static<typeof alerts>, 'mail'> {
  readonly mail?: { readonly to: readonly string[]; readonly url: string; readonly from: string };
}

/** Fills in the mail server, and reports alerts without a recipient. */
export function resolveAlerts(
  { mail, ...rest }: Static<typeof alerts>,
  smtp: { readonly url: string; readonly from: string } | undefined,
  errors: ConfigProblem[],
): AlertsConfig {
  if (mail === undefined && rest.webhook === undefined)
    errors.push({ path: 'alerts', message: 'would reach nobody: set alerts.webhook or alerts.mail' });
  if (mail === undefined) return rest;
  const { to, url = smtp?.url, from = smtp?.from } = mail;
  const missing = (key: string): void =>
    void errors.push({
      path: `alerts.mail.${key}`,
      message: 'is missing, and there is no service.smtp to take it from',
    });
  if (url === undefined) missing('url');
  if (from === undefined) missing('from');
  return url === undefined || from === undefined ? rest : { ...rest, mail: { to, url, from } };
}

interface Digested {
  readonly alerts?: AlertsConfig | undefined;
  readonly admin: { readonly publicUrl?: string | undefined };
  readonly timeZone: string;
}

/** The digest of an installation at `place`; without a language it is off. */
export const digestOf = ({ alerts: configured, admin, timeZone }: Digested, place: string) => ({
  place,
  timeZone,
  dashboard: admin.publicUrl,
  language: configured?.digest?.language,
  alerts: configured,
});
