import { describe, expect, test } from 'vitest';
import { changesOf, readFound } from '../../../src/service/feeds/gazette-notice.ts';

const headlineOf = (messageTypeName: string | undefined, title = 'Papirtiger Software A/S'): string | undefined => {
  const line = {
    messageNumber: 'S21112026-1',
    published: '2026-11-21T00:00:00',
    title,
    summary: [{ name: 'CVR-nr.', value: '99000011' }],
    messageTypeName,
  };
  const found = readFound(line);
  if (found === undefined) expect.fail('the line was not read');
  const edition = {
    kind: '14a1d71d-f215-58e5-ade0-214f90482cdc',
    baseUrl: 'https://gazette.example',
    source: 'G',
  } as const;
  return changesOf(found, [], edition)[0]?.updates.newArticle?.headline ?? undefined;
};

describe('a notice that was found in a search for decrees', () => {
  test.each([
    ['Dekret', 'Konkursdekret'],
    ['Ophævelse af dekret', 'Konkursdekret ophævet'],
    ['Indkaldelse til fordringsprøvelse', 'Fordringsprøvelse i konkursbo'],
    ['Skiftesamling', 'Skiftesamling i konkursbo'],
    ['Regnskab og boafslutning', 'Regnskab og boafslutning i konkursbo'],
  ])('and states the kind %s is published as %s', (name, label) => {
    expect(headlineOf(name)).toBe(`${label}: Papirtiger Software A/S`);
  });

  test.each([undefined, 'Noget ganske andet'])('and states the kind %s is published by its search', (name) => {
    expect(headlineOf(name)).toBe('Konkursdekret: Papirtiger Software A/S');
  });
});

test('a personal number in a notice is not stored, even if its digits are HTML entities', () => {
  expect(headlineOf('Dekret', 'Bo efter &#48;10190&#x2d;1234')).toBe('Konkursdekret: Bo efter […]');
});
