/** The date of a change in a mail, and the subject of a mail about an article. */
import { expect, test } from 'vitest';
import type { Updates } from '../../../src/protocol/payload.ts';
import { composeChanges } from '../../../src/service/mail/compose.ts';

const compose = (updates: Updates) =>
  composeChanges({
    changes: [{ entity: 'CVR-1-99000011', name: 'Prøve ApS', updates, timestamp: '2026-03-05T10:00:00.000Z' }],
    more: 0,
    baseUrl: 'https://cvr.example.com',
    monitorName: 'Kunder',
    unsubscribeUrl: 'https://cvr.example.com/u',
  });

test('a mail states the date of a change', () => {
  const { subject, text } = compose({ website: { before: null, after: 'www.ny.example' } });
  expect(text).toMatch(/, 5\. marts 2026/);
  expect(subject).not.toContain('2026');
});

test('the subject of a mail about a press release is its headline', () => {
  const newArticle = {
    source: 'Presse',
    headline: 'Prøve åbner i Aarhus',
    tagline: null,
    content: null,
    time: '2026-03-05T10:00:00.000Z',
    link: null,
  };
  expect(compose({ newArticle }).subject).toBe('Prøve ApS: Prøve åbner i Aarhus');
});
