import { describe, expect, test } from 'vitest';
import type { MailChange } from '../../../src/service/mail/compose.ts';
import { composeChanges, composeNotice } from '../../../src/service/mail/compose.ts';

const frame = { monitorName: 'Kunder', unsubscribeUrl: 'https://sync.example.dk/unsubscribe?token=a.b' };
const compose = (changes: readonly MailChange[], more = 0) =>
  composeChanges({ changes, more, baseUrl: 'https://register.example.dk', ...frame });

const change = (entity: number, name: string, updates: MailChange['updates']): MailChange => ({
  entity: `CVR-1-${entity}`,
  name,
  updates,
});
const phone = { phoneNumber: { before: '11111111', after: '22222222' } };

describe('a mail of changes', () => {
  test('of one company says in its subject what changed', () => {
    const { subject, text } = compose([
      change(99000001, 'Prøvelund ApS', { ...phone, status: { before: 'NORMAL', after: 'UNDER KONKURS' } }),
    ]);
    expect(subject).toBe('Prøvelund ApS: Telefon, Status');
    expect(text).toBe(
      `1 ændring i overvågningen Kunder

Prøvelund ApS (CVR-nr. 99000001)
https://register.example.dk/enhed/virksomhed/99000001

Telefon: 11111111 → 22222222
Status: Normal → Under konkurs

-- 
Du får denne mail, fordi din adresse står på overvågningen Kunder.
Afmeld flere mails herfra: https://sync.example.dk/unsubscribe?token=a.b
`,
    );
  });

  test('names three of many titles in its subject', () => {
    const many = {
      ...phone,
      fax: phone.phoneNumber,
      website: phone.phoneNumber,
      email: phone.phoneNumber,
      purpose: phone.phoneNumber,
    };
    expect(compose([change(99000001, 'A', many)]).subject).toBe('A: Formål, E-mail, Telefax og 2 mere');
  });

  test('of several companies groups them, in the order of their names', () => {
    const { subject, text } = compose([
      change(99000002, 'Østkyst ApS', phone),
      change(99000001, 'Zoologi ApS', phone),
      change(99000003, 'Aagaard ApS', phone),
      change(99000001, 'Zoologi A/S', { fax: { before: '1', after: null } }),
    ]);
    expect(subject).toBe('4 ændringer i 3 virksomheder: Kunder');
    const headings = [...text.matchAll(/^(.+) \(CVR-nr\. \d+\)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(['Zoologi A/S', 'Østkyst ApS', 'Aagaard ApS']);
    expect(text).toContain('Telefax slettet: 1');
  });

  test('of persons says so, and links them', () => {
    const person = { entity: 'CVR-3-4009999999', name: 'Prøve Opdigtsen', updates: phone };
    const { subject, text } = compose([person, change(99000001, 'A', phone)]);
    expect(subject).toBe('2 ændringer: Kunder');
    expect(text).toContain('Prøve Opdigtsen (Person)\nhttps://register.example.dk/enhed/person/4009999999');
  });

  test('cuts long lists and long values, and says what is left out', () => {
    const added = Array.from({ length: 45 }, (_, index) => `Navn ${index}`);
    const { text } = compose([
      change(99000001, 'A', { altNames: { added, removed: [] }, purpose: { before: null, after: 'x'.repeat(10_000) } }),
    ]);
    expect(text).toContain('Navn 19');
    expect(text).not.toContain('Navn 20');
    expect(text).toContain('… og 25 mere');
    expect(text).toMatch(/Formål: x{599}…/);
  });

  test('holds fifty companies, and counts the remaining changes', () => {
    const changes = Array.from({ length: 60 }, (_, index) => change(99000100 + index, `Selskab ${index + 100}`, phone));
    const { text, html } = compose(changes, 1_000);
    expect(text.match(/CVR-nr\./g)).toHaveLength(50);
    expect(text).toContain('Og 1.010 ændringer mere');
    expect(html).toContain('Og 1.010 ændringer mere');
    expect(text).toContain('1.060 ændringer i overvågningen');
  });

  test('stays readable in size, whatever the changes', () => {
    const added = Array.from({ length: 30 }, () => '<'.repeat(2_000));
    const changes = Array.from({ length: 300 }, (_, index) =>
      change(99000001, 'A', { altNames: { added, removed: added }, purpose: { before: null, after: `${index}` } }),
    );
    expect(compose(changes).html.length).toBeLessThan(2_000_000);
  });

  test('links what has a link, and nothing else', () => {
    const article = {
      source: null,
      headline: 'Læs <her>',
      tagline: null,
      content: null,
      time: null,
      link: 'https://example.dk/?a=1&b="2"',
    };
    const { html, text } = compose([change(99000001, 'A', { newArticle: article })]);
    expect(html).toContain('href="https://example.dk/?a=1&amp;b=&quot;2&quot;"');
    expect(html).toContain('>Læs &lt;her&gt;</a>');
    expect(text).toContain('Artikel: Læs <her>\n    https://example.dk/?a=1&b="2"');
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toHaveLength(3);
  });

  test('shows a name with markup as text', () => {
    const { html, subject } = compose([change(99000001, '</title><script>alert(1)</script> & Søn', phone)]);
    expect(html).not.toContain('<script');
    expect(html.match(/<title>.*<\/title>/)?.[0]).toBe(
      '<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; Søn: Telefon</title>',
    );
    expect(subject).toBe('</title><script>alert(1)</script> & Søn: Telefon');
  });

  test('has a subject on one line, of bounded length', () => {
    const { subject } = compose([change(99000001, `A\r\nB\u2028C\0D ${'x'.repeat(500)}`, phone)]);
    expect(subject).toMatch(/^A B C D x+…$/);
    expect(subject).toHaveLength(150);
  });
});

test('a notice has its paragraphs and the unsubscribe link', () => {
  const { subject, text, html } = composeNotice({ subject: 'Emne\r\nX: y', text: 'Et & to.\nTre.\n\nFire.' }, frame);
  expect(subject).toBe('Emne X: y');
  expect(text.startsWith('Et & to.\nTre.\n\nFire.\n\n-- \n')).toBe(true);
  expect(html).toContain('Et &amp; to.<br>Tre.</p>');
  expect(html).toContain(frame.unsubscribeUrl);
});
