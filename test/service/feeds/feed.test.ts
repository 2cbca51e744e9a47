import { describe, expect, test } from 'vitest';
import { readFeed } from '../../../src/service/feeds/feed.ts';
import { withoutPersonalNumbers } from '../../../src/service/feeds/personal-numbers.ts';
import { plainHtml } from '../../../src/service/feeds/plain-html.ts';
import { DocumentError } from '../../../src/service/reports/document/facts.ts';

const url = 'https://example.dk/nyt/rss';
const read = (text: string) => readFeed({ bytes: Buffer.from(text), url });
const rss = (
  items: string,
) => `<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
  xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel><title>Kanal</title><link>https://example.dk</link><atom:link href="https://example.dk/rss" rel="self"/>
  <image><title>Billede</title></image>${items}</channel></rss>`;
const published = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

describe('a feed', () => {
  test('in RSS has its items, without the titles of channel and pictures', async () => {
    const items = await read(
      rss(`<item><media:content url="x"><media:title>Foto</media:title></media:content>
        <title>Æble &amp; pære vinder &lt;b&gt;pris&lt;/b&gt;</title><link> https://example.dk/a?x=1&amp;y=2 </link>
        <description><![CDATA[<p>Kort &aelig;</p>]]></description><content:encoded><![CDATA[<p>Langt</p>]]></content:encoded>
        <pubDate>Tue, 15 Sep 2026 08:00:00 +0200</pubDate><guid isPermaLink="false">g-1</guid></item>
        <item><title>To</title><guid>https://example.dk/b</guid><dc:date>2026-09-15T08:00:00</dc:date></item>`),
    );
    expect(items.map(({ published: at, ...item }) => ({ ...item, at: published(at) }))).toEqual([
      {
        guid: 'g-1',
        title: 'Æble & pære vinder <b>pris</b>',
        link: 'https://example.dk/a?x=1&y=2',
        summary: '<p>Kort &aelig;</p>',
        content: '<p>Langt</p>',
        at: '2026-09-15T06:00:00.000Z',
      },
      {
        guid: 'https://example.dk/b',
        title: 'To',
        link: 'https://example.dk/b',
        summary: '',
        content: '',
        at: '2026-09-15T08:00:00.000Z',
      },
    ]);
  });

  test('in Atom has the same items, XHTML included', async () => {
    const [item] = await read(`<feed xmlns="http://www.w3.org/2005/Atom"><title>Kanal</title><id>urn:feed</id>
      <entry><title type="html">Ny &lt;i&gt;hal&lt;/i&gt;</title><id>urn:1</id><link rel="enclosure" href="https://example.dk/x.jpg"/>
      <link href="https://example.dk/1"/><updated>2026-09-15T08:00:00Z</updated><published>2026-09-14T08:00:00+02:00</published>
      <author><name>Bo</name><id>nobody</id></author>
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Et</p><p>to</p></div></content></entry></feed>`);
    expect(item).toMatchObject({ guid: 'urn:1', title: 'Ny <i>hal</i>', link: 'https://example.dk/1', summary: '' });
    expect(published(item?.published)).toBe('2026-09-14T06:00:00.000Z');
    expect(plainHtml(item?.content ?? '')).toBe('Et to');
  });

  test('in RDF or JSON has the same items', async () => {
    const [rdf] =
      await read(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
      xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>Kanal</title></channel>
      <item rdf:about="https://example.dk/1"><title>Ny &lt;i&gt;hal&lt;/i&gt;</title><link>https://example.dk/1</link>
      <description>Kort</description><dc:date>2026-09-14T08:00:00+02:00</dc:date></item></rdf:RDF>`);
    const json = { id: 'https://example.dk/1', url: 'https://example.dk/1', title: 'Ny <i>hal</i>', summary: 'Kort' };
    const item = { ...json, date_published: '2026-09-14T08:00:00+02:00' };
    const feed = { version: 'https://jsonfeed.org/version/1.1', title: 'Kanal', items: [item] };
    expect(await read(JSON.stringify(feed))).toEqual([rdf]);
    expect(rdf).toEqual({
      guid: 'https://example.dk/1',
      title: 'Ny <i>hal</i>',
      link: 'https://example.dk/1',
      summary: 'Kort',
      content: '',
      published: Date.parse('2026-09-14T06:00:00Z'),
    });
  });

  test.each([
    ['its prolog', '<?xml version="1.0" encoding="ISO-8859-1"?>', 'application/xml; charset=utf-8'],
    ['the answer', '', 'text/xml; charset="iso-8859-1"'],
    ['the answer of one without a prolog', '', 'application/rss+xml;charset=windows-1252'],
  ])('in an older encoding, by %s, is decoded', async (_, prolog, contentType) => {
    const xml = `${prolog}<rss><channel><item><title>Sæby</title></item></channel></rss>`;
    expect((await readFeed({ bytes: Buffer.from(xml, 'latin1'), url, contentType }))[0]?.title).toBe('Sæby');
  });

  test('resolves relative links by its own address, or by xml:base', async () => {
    const rssItems = await read(rss('<item><title>a</title><link>/a?x=1</link></item><item><link>b</link></item>'));
    expect(rssItems.map(({ link }) => link)).toEqual(['https://example.dk/a?x=1', 'https://example.dk/nyt/b']);
    const atomItems =
      await read(`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/a/"><title>Kanal</title><id>urn:feed</id>
      <entry xml:base="b/"><title>x</title><id>urn:1</id><link href="../c"/></entry>
      <entry><title>y</title><id>urn:2</id><link href="https://example.com/"/></entry></feed>`);
    expect(atomItems.map(({ link }) => link)).toEqual(['https://example.dk/a/c', 'https://example.com/']);
  });

  test('with HTML entities that it does not declare has their characters', async () => {
    const [item] = await read(rss('<item><title>K&oslash;b &amp; s&aelig;lg&nbsp;&hellip;</title></item>'));
    expect(plainHtml(item?.title ?? '')).toBe('Køb & sælg …');
  });

  test('is read in its own format, even if an article quotes another one', async () => {
    const [item] = await read(`<feed xmlns="http://www.w3.org/2005/Atom"><title>Kanal</title><id>urn:feed</id>
      <entry><title>Om feeds</title><id>urn:1</id><content><![CDATA[ <rss version="2.0"><channel> ]]></content></entry></feed>`);
    expect(item).toMatchObject({ title: 'Om feeds', content: '<rss version="2.0"><channel>' });
  });

  test.each([
    ['CET', '2026-03-25T09:00:00.000Z'],
    ['CEST', '2026-03-25T08:00:00.000Z'],
  ])('with a time in %s has that time', async (zone, time) => {
    const xml = rss(`<item><title>a</title><pubDate>Wed, 25 Mar 2026 10:00:00 ${zone}</pubDate></item>`);
    expect((await read(xml))[0]?.published).toBe(Date.parse(time));
  });

  test.each([['tomorrow'], ['Tue, 99 Sep 2026 08:00:00 +0200'], ['']])(
    'with the time "%s" has no time',
    async (time) => {
      expect(
        (await read(rss(`<item><title>a</title><pubDate>${time}</pubDate></item>`)))[0]?.published,
      ).toBeUndefined();
    },
  );

  test.each([
    ['is cut', rss('<item><title>a</title></item>').slice(0, -20)],
    ['is a web page', '<html><body>Vedligehold<br></body></html>'],
    ['is empty', ''],
    [
      'declares entities',
      `<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>${rss('<item><title>&b;</title></item>').slice(21)}`,
    ],
    [
      'points outside',
      `<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&x;</title></item></channel></rss>`,
    ],
    ['is nested without end', '<a>'.repeat(100_000)],
    ['is made of trifles', rss('<item><title>a</title></item>'.repeat(30_000))],
    ['has an attribute for everything', rss(`<item ${'abcdefghij'.repeat(3)}="1"/>`.repeat(25_100))],
    ['would change what all objects have', rss('<item><__proto__>a</__proto__></item>')],
    ['is JSON that is no feed', '{"title":"Vedligehold"}'],
    ['is cut JSON', '{"version":"https://jsonfeed.org/version/1","items":[{"id":"1"'],
  ])('that %s is refused', async (_, xml) => {
    await expect(read(xml)).rejects.toThrow(DocumentError);
  });

  test('yields at most 500 items, and the first 100,000 characters of a text', async () => {
    const items = await read(rss('<item><title>a</title></item>'.repeat(2_000)));
    expect(items).toHaveLength(500);
    const [long] = await read(rss(`<item><title>a</title><description>${'x '.repeat(200_000)}</description></item>`));
    expect(long?.summary.length).toBeLessThanOrEqual(100_000);
  });
});

test.each([
  ['<p>Et</p><p>to &amp; tre</p>', 'Et to & tre'],
  ['5 < 6 og 7 > 3', '5 < 6 og 7 > 3'],
  ['a<script>alert("<p>")</script>b<!-- c -->', 'a b'],
  ['<a href="x>y">link</a>\r\n\0 &#230;&#xF8;&aring;&nbsp;&ukendt;', 'link æøå &ukendt;'],
  ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
  // Of the more than two thousand entities of HTML.
  ['K&oslash;benhavn &bdquo;S&uuml;d&ldquo; &euro; 5 &ndash; &frac12; &copy; AT&T', 'København „Süd“ € 5 – ½ © AT&T'],
])('the HTML %j becomes the text %j', (html, text) => {
  expect(plainHtml(html)).toBe(text);
});

test.each([
  ['010190-1234', '[…]'],
  ['cpr 0101901234.', 'cpr […].'],
  ['310190 - 1234, 31 12 90 1234, 31.12.90-1234, 010190–1234', '[…], […], […], […]'],
  ['010190/1234, 01-01-1990-1234, 01/01/1990 1234', '[…], […], […]'],
  ['010190\u00a01234, 01.01.90\u00a0-\u00a01234, 010190\u202f1234, 01\u2011\u200b01901234', '[…], […], […], […]'],
  ['<p>010190&nbsp;1234 og 010190&#8209;1234 og 01&thinsp;01&thinsp;1990&ndash;1234</p>', '<p>[…] og […] og […]</p>'],
  // One that stands in for a personal number.
  ['610190-1234', '[…]'],
  // In HTML, a tag may stand in it.
  ['<p>010190-<b>1234</b></p>', '<p>[…]</b></p>'],
  ['<td>010190</td><td>1234</td>', '<td>[…]</td>'],
  // In pairs, and with signs between that nobody expects there.
  ['01 01 80 12 34, 01.01.80.12.34 og 01 01 19 80 12 34', '[…], […] og […]'],
  ['010180_1234, 010180,1234, 010180·1234, 010180:1234, 01·01·80·1234', '[…], […], […], […], […]'],
  ['<td>01</td><td>01</td><td>80</td><td>12</td><td>34</td>', '<td>[…]</td>'],
  // As other characters that look the same, and with some that nobody sees.
  ['０１０１８０－１２３４ og 𝟘𝟙𝟘𝟙𝟠𝟘-𝟙𝟚𝟛𝟜 og 010180－１２３４', '[…] og […] og […]'],
  ['😀 0\u200d10\u200d180\u200c-1\ufe0f2\u00ad34\u200d 😀', '😀 […]\u200d 😀'],
  ['½ ① ™ 01 01 80 12 34 ½', '½ ① ™ […] ½'],
  ['tlf. 20 11 12 34, 56 78 90 12, +45 20 11 12 34', 'tlf. 20 11 12 34, 56 78 90 12, +45 20 11 12 34'],
  [
    '20 11 12 34 56 78 90 12, 27.11.26 14.30 og 27.11.26, 1430',
    '20 11 12 34 56 78 90 12, 27.11.26 14.30 og 27.11.26, 1430',
  ],
  [
    'CVR 12 12 19 12, 2100 København, den 25-08-2026, 2100 Ø',
    'CVR 12 12 19 12, 2100 København, den 25-08-2026, 2100 Ø',
  ],
  ['CVR 12121912, P-nr. 1 009 999 991, ２０１１１２３４', 'CVR 12121912, P-nr. 1 009 999 991, ２０１１１２３４'],
  ['sag SKS 41-9999/2026 af 25-08-2026, tlf. 12 34 56 78', 'sag SKS 41-9999/2026 af 25-08-2026, tlf. 12 34 56 78'],
  ['CVR 99000011, konto 1234-0101901234567, 2026-11-21', 'CVR 99000011, konto 1234-0101901234567, 2026-11-21'],
])('%j is stored as %j', (text, kept) => {
  expect(withoutPersonalNumbers(text)).toBe(kept);
});
