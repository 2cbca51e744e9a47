export type DigestLanguage = 'en' | 'da';

export interface DigestWords {
  readonly rows: Readonly<
    Record<
      'written' | 'kept' | 'undone' | 'review' | 'differences' | 'refused' | 'sent' | 'failed' | 'conditions',
      string
    >
  >;
  readonly withoutLinks: string;
  head(place: string, since: number, until: number): string;
  subject(since: number, until: number): string;
  number(count: number): string;
  moreThan(count: number): string;
}

/** `timeZone`: in which a week has its days. */
export const digestWords = (language: DigestLanguage, timeZone: string): DigestWords =>
  language === 'da' ? danish(forms('da-DK', timeZone)) : english(forms('en-GB', timeZone));

const forms = (locale: string, timeZone: string) => {
  const numbers = new Intl.NumberFormat(locale);
  const days = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric', timeZone });
  return {
    number: (count: number) => numbers.format(count),
    // Versions of ICU differ in the spaces around the dash.
    span: (from: number, to: number) => days.formatRange(from, to).replaceAll(/\s?–\s?/gu, ' – '),
  };
};
type Forms = ReturnType<typeof forms>;

const english = (forms: Forms): DigestWords => ({
  rows: {
    written: 'Values written',
    kept: 'Edits of people kept',
    undone: 'Values undone',
    review: 'Waiting in review now',
    differences: 'Values that differ from the register now',
    refused: 'Values that a CRM refused',
    sent: 'Deliveries that arrived',
    failed: 'Attempts to deliver that failed',
    conditions: 'Problems that need a person now',
  },
  withoutLinks: '`cvrsync status` and `cvrsync review list` show more.',
  head: (place, since, until) => `cvrsync at ${place}, ${forms.span(since, until)}:`,
  subject: (since, until) => `the week of ${forms.span(since, until)}`,
  number: forms.number,
  moreThan: (count) => `more than ${forms.number(count)}`,
});

const danish = (forms: Forms): DigestWords => ({
  rows: {
    written: 'Skrevne værdier',
    kept: 'Rettelser fra mennesker, som blev bevaret',
    undone: 'Fortrudte værdier',
    review: 'Venter i gennemsyn nu',
    differences: 'Værdier, som afviger fra registeret nu',
    refused: 'Værdier, som et CRM afviste',
    sent: 'Leverancer, som kom frem',
    failed: 'Leveringsforsøg, som mislykkedes',
    conditions: 'Problemer, som kræver et menneske nu',
  },
  withoutLinks: '`cvrsync status` og `cvrsync review list` viser mere.',
  head: (place, since, until) => `cvrsync på ${place}, ${forms.span(since, until)}:`,
  subject: (since, until) => `ugen ${forms.span(since, until)}`,
  number: forms.number,
  moreThan: (count) => `flere end ${forms.number(count)}`,
});
