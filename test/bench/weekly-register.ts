/** The weekly files of invented companies, written and served by a process of its own. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, open, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createDeflateRaw } from 'node:zlib';
import { answerWith } from './child.ts';

interface Made {
  readonly folder: string;
  readonly companies: number;
  /** One production unit for so many companies. */
  readonly unitEvery: number;
}

const GENERATION = 525;
const ROW_END = 'DK,2026-10-01T10:00:00.000000Z,,E&S,2019-03-01,,E&S,,';
const DATED =
  'registreringslinje,registreringFra,registreringTil,registreringsaktoer,virkningFra,virkningTil,virkningsaktoer';
const META =
  'datafordelerOpdateringstid,datafordelerRowId,datafordelerRegisterImportSequenceNumber,datafordelerRowVersion';
const COMPANY = 4_000_000_001;
const UNIT = 4_004_000_001;
const PERSON = 4_008_000_001;

const meta = (at: number): string =>
  `2026-10-01T10:05:00.000000Z,${String(at).padStart(8, '0')}-0000-4000-8000-000000000000,409248,1`;
const line = (id: number, values: string, at: number): string => `${id},${values},${ROW_END}${meta(at)}\n`;
const STREETS = ['Prøvegade', 'Eksempelvej', 'Attrapstræde', 'Skinbakken', 'Fiktivtorvet'];
const word = (at: number): string => ['Skin', 'Prøve', 'Luft', 'Papir', 'Demo', 'Øvelses'][at % 6] ?? '';

type Lines = (made: Made) => Iterable<string>;

/** A line of each company and each production unit, in an order that is nobody's. */
const ofUnits = (of: (id: number, at: number) => string, isToBe = (_: number) => true): Lines =>
  function* units({ companies, unitEvery }) {
    for (let each = 0; each < companies; each++) {
      const at = (each * 7_919) % companies;
      if (isToBe(at)) yield of(COMPANY + at, at);
      if (at % unitEvery === 0 && isToBe(at)) yield of(UNIT + at, at);
    }
  };

const ofCompanies = (of: (id: number, at: number) => string, isToBe = (_: number) => true): Lines =>
  function* all({ companies }) {
    for (let each = 0; each < companies; each++) {
      const at = (each * 7_919) % companies;
      if (isToBe(at)) yield of(COMPANY + at, at);
    }
  };

const cvrOf = (at: number): number => 10_000_000 + at;

/** The columns of each entity, and its lines. */
const ENTITIES: Readonly<Record<string, readonly [columns: string, lines: Lines]>> = {
  Virksomhed: [
    'id,CVRNummer,status,virksomhedStartdato,virksomhedOphoersdato',
    ofCompanies((id, at) => line(id, `${cvrOf(at)},aktiv,2019-03-01,`, at)),
  ],
  Produktionsenhed: [
    'id,pNummer,status,produktionsenhedStartdato,produktionsenhedOphoersdato,tilknyttetVirksomhedsCVRNummer,tilknyttetTilVirksomhedStartdato,tilknyttetTilVirksomhedOphoersdato',
    ofUnits((id, at) =>
      id < UNIT ? '' : line(id, `${1_000_000_000 + at},aktiv,2019-03-01,,${cvrOf(at)},2019-03-01,`, at),
    ),
  ],
  FuldtAnsvarligDeltagerRelation: [
    'CVREnhedsId,deltagendeEnhedsId',
    ofCompanies(
      (id, at) => line(id, String(PERSON + at), at),
      (at) => at % 3 === 0,
    ),
  ],
  CVREnhed: [
    'id,enhedsType,forretningsnoegle,forretningsnoegletype,status',
    ofUnits((id, at) => {
      if (id >= UNIT) return line(id, `Produktionsenhed,${1_000_000_000 + at},PNummer,aktiv`, at);
      const person = line(PERSON + at, `CVRPerson,${PERSON + at},CVREnhedsid,aktiv`, at);
      return line(id, `Virksomhed,${cvrOf(at)},CVRNummer,aktiv`, at) + person;
    }),
  ],
  Navn: [
    'CVREnhedsId,vaerdi,sekvens',
    ofUnits((id, at) => line(id, `"${word(at)}${at % 977} ""${word(at * 3)}"" ApS",0`, at)),
  ],
  Adressering: [
    'CVREnhedsId,AdresseringAnvendelse,Adresse,coNavn,CVRAdresse_vejnavn,CVRAdresse_vejkode,CVRAdresse_husnummerFra,CVRAdresse_husnummerTil,CVRAdresse_etagebetegnelse,CVRAdresse_doerbetegnelse,CVRAdresse_postnummer,CVRAdresse_postdistrikt,CVRAdresse_supplerendeBynavn,CVRAdresse_postboks,CVRAdresse_kommunekode,CVRAdresse_kommunenavn,CVRAdresse_landekode,CVRAdresse_adresseFritekst',
    ofUnits((id, at) =>
      line(
        id,
        `beliggenhedsadresse,,,${STREETS[at % 5]},${at % 9_999},${at % 200},,1,th,8000,Aarhus C,,,751,AARHUS,DK,`,
        at,
      ),
    ),
  ],
  Branche: [
    'CVREnhedsId,vaerdi,vaerdiTekst,sekvens',
    ofUnits((id, at) => line(id, '620100,Computerprogrammering,0', at)),
  ],
  Virksomhedsform: ['CVREnhedsId,vaerdi,vaerdiTekst', ofCompanies((id, at) => line(id, '80,Anpartsselskab', at))],
  AnsvarligDataleverandoer: [
    'CVREnhedsId,vaerdi,vaerdiTekst',
    ofCompanies((id, at) => line(id, 'E&S,Erhvervsstyrelsen', at)),
  ],
  Telefonnummer: [
    'CVREnhedsId,vaerdi',
    ofUnits(
      (id, at) => line(id, String(20_000_000 + at), at),
      (at) => at % 5 < 3,
    ),
  ],
  Telefaxnummer: [
    'CVREnhedsId,vaerdi',
    ofCompanies(
      (id, at) => line(id, String(30_000_000 + at), at),
      (at) => at % 50 === 0,
    ),
  ],
  'e-mailadresse': [
    'CVREnhedsId,vaerdi',
    ofUnits(
      (id, at) => line(id, `post@firma${at}.example`, at),
      (at) => at % 2 === 0,
    ),
  ],
  Reklamebeskyttelse: ['CVREnhedsId,vaerdi', ofUnits((id, at) => line(id, String(at % 3 === 0), at))],
  Kreditoplysninger: [
    'CVREnhedsId,Kreditoplysning,kreditoplysningstekst,statusvaerdi,statusvaerdiTekst',
    ofCompanies(
      (id, at) => line(id, '1,Konkurs,1,Dekret', at),
      (at) => at % 500 === 0,
    ),
  ],
};

const CHUNK = 1 << 18;

/** Packs the lines into a zip of one file, whose sizes follow it. */
async function writeZip(path: string, name: string, text: Iterable<string>): Promise<void> {
  const title = Buffer.from(name);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04_03_4b_50);
  local.writeUInt16LE(8, 6);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(title.length, 26);
  const handle = await open(path, 'w');
  await handle.write(Buffer.concat([local, title]));
  let size = 0;
  const deflate = createDeflateRaw({ level: 1 });
  const packed = (async () => {
    let length = 0;
    for await (const chunk of deflate) length += (await handle.write(chunk)).bytesWritten;
    return length;
  })();
  for (const chunk of chunksOf(text)) {
    size += chunk.length;
    if (!deflate.write(chunk)) await new Promise((resolve) => deflate.once('drain', resolve));
  }
  deflate.end();
  const length = await packed;
  await handle.close();
  await appendFile(path, directoryOf(title, { size, length }));
}

function* chunksOf(lines: Iterable<string>): Generator<Buffer> {
  let text = '';
  for (const one of lines) {
    text += one;
    if (text.length < CHUNK) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

function directoryOf(title: Buffer, { size, length }: { readonly size: number; readonly length: number }): Buffer {
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02_01_4b_50);
  central.writeUInt16LE(8, 8);
  central.writeUInt16LE(8, 10);
  central.writeUInt32LE(length, 20);
  central.writeUInt32LE(size, 24);
  central.writeUInt16LE(title.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length + title.length, 12);
  end.writeUInt32LE(30 + title.length + length, 16);
  return Buffer.concat([central, title, end]);
}

async function md5Of(path: string): Promise<string> {
  const sum = createHash('md5');
  for await (const chunk of createReadStream(path)) sum.update(chunk);
  return sum.digest('hex');
}

async function make(made: Made): Promise<readonly object[]> {
  const listed: object[] = [];
  for (const [entityName, [columns, lines]] of Object.entries(ENTITIES)) {
    const typeOfData = entityName === 'CVREnhed' ? 'Bitemporal' : 'Current';
    const fileName = `CVR_V2_${entityName}_TotalDownload_csv_${typeOfData}_${GENERATION}.zip`;
    const path = join(made.folder, fileName);
    const header = `${columns},${DATED},feltliste,${META}\n`;
    await writeZip(path, fileName.replace('.zip', '.csv'), withHeader(header, lines(made)));
    listed.push({
      ...{ fileName, register: 'CVR', entityName, typeOfDownload: 'TotalDownload', typeOfData },
      ...{ generationNumber: GENERATION, containedFileFormat: 'csv', outputFileFormat: 'zip' },
      ...{ pointInTime: '2026-10-09T23:08:00.414615Z', expirationDate: '2099-01-01T00:00:00Z' },
      ...{ md5Hash: await md5Of(path), fileSizeInBytes: (await stat(path)).size },
    });
  }
  return listed;
}

function* withHeader(header: string, lines: Iterable<string>): Generator<string> {
  yield header;
  yield* lines;
}

export const verbs = {
  async serve(made: Made) {
    const availableFileDownloads = await make(made);
    const server = createServer((req, res) => {
      const url = new URL(req.url ?? '/', 'http://bench.invalid');
      const name = url.searchParams.get('Filename');
      // The feed has nothing: the bench ends where the files do.
      if (req.method === 'POST') res.end(JSON.stringify({ data: { DAF_RegisterImportStatus: { lastEventId: 0 } } }));
      else if (name === null) res.end(JSON.stringify({ availableFileDownloads }));
      else createReadStream(join(made.folder, name)).pipe(res);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const sizes = availableFileDownloads.map((each) => ('fileSizeInBytes' in each ? Number(each.fileSizeInBytes) : 0));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      mb: sizes.reduce((sum, size) => sum + size, 0) / 1e6,
    };
  },
};

answerWith(verbs);
