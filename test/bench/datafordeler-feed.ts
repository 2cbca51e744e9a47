/** The emulated Datafordeler for its bench: a feed that is made as it is asked for, and rows of the units in it. */

import { type DatafordelerEmulator, serveDatafordeler } from '../../src/commands/emulate/datafordeler/datafordeler.ts';
import { dafTime } from '../../src/commands/emulate/datafordeler/tables.ts';
import { answerWith } from './child.ts';
import { document, documentId } from './datafordeler-units.ts';

/** The rows of one unit, deleted and inserted: so many events has a change. */
const PER_UNIT = 16;
const HALF = PER_UNIT / 2;
const ENTITIES = [
  ...['CVREnhed', 'Virksomhed', 'Navn', 'Adressering', 'Branche', 'Virksomhedsform', 'Telefonnummer'],
  'Reklamebeskyttelse',
];

let emulator: DatafordelerEmulator | undefined;

const verbs = {
  /** Serves so many events; every 100th unit has rows beyond its kind. */
  async serve({ events, every }: { events: number; every: number }) {
    emulator = await serveDatafordeler({ companies: 0 });
    const units = Math.ceil(events / PER_UNIT);
    for (let unit = 0; unit < units; unit++) {
      if (unit % every === 0) emulator.put(document(unit), 1);
      else {
        const id = documentId(unit);
        const CVREnhed = [{ id, enhedsType: 'Virksomhed', forretningsnoegle: String(10_000_000 + unit) }];
        emulator.tables.put(id, { CVREnhed }, 1);
      }
    }
    const began = Date.now() - 86_400_000;
    emulator.feed = {
      length: events,
      at: (eventid) => {
        const place = (eventid - 1) % PER_UNIT;
        return {
          eventid,
          entityname: ENTITIES[place % HALF] ?? '',
          eventaction: place < HALF ? 'd' : 'i',
          fromfailedimport: false,
          object_id: documentId(Math.floor((eventid - 1) / PER_UNIT)),
          object_datafordelerRowId: `00000000-0000-4000-8000-${String(eventid).padStart(12, '0')}`,
          datafordelerOpdateringstid: dafTime(began + eventid),
          datafordelerRegisterImportSequenceNumber: 1,
        };
      },
    };
    return emulator.settings;
  },
  async close() {
    await emulator?.close();
  },
};
export type Feed = typeof verbs;

answerWith(verbs);
