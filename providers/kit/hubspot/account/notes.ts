/** The notes of an emulated account, and their companies. */

export interface StoredNote {
  readonly id: string;
  readonly createdAt: number;
  properties: Readonly<Record<string, string>>;
  readonly companies: Set<string>;
}

export interface StoredNotes {
  create(properties: Readonly<Record<string, string>>, companies: readonly string[]): StoredNote;
  find(id: string): StoredNote | undefined;
  on(company: string): readonly StoredNote[];
  merge(merged: readonly string[], survivor: string): void;
}

/** No notes yet; ids count up from `firstId`. */
export function openNotes(firstId: number, now: () => number): StoredNotes {
  const byId = new Map<string, StoredNote>();
  const byCompany = new Map<string, StoredNote[]>();
  let nextId = firstId;
  const attach = (note: StoredNote, company: string) => {
    note.companies.add(company);
    byCompany.set(company, [...(byCompany.get(company) ?? []), note]);
  };
  return {
    create(properties, companies) {
      const note: StoredNote = { id: String(nextId), createdAt: now(), properties, companies: new Set() };
      nextId += 1;
      byId.set(note.id, note);
      for (const company of companies) attach(note, company);
      return note;
    },
    find: (id) => byId.get(id),
    on: (company) => byCompany.get(company) ?? [],
    merge(merged, survivor) {
      for (const company of merged) {
        for (const note of byCompany.get(company) ?? []) {
          note.companies.delete(company);
          if (!note.companies.has(survivor)) attach(note, survivor);
        }
        byCompany.delete(company);
      }
    },
  };
}

export const plainText = (html: string): string =>
  html
    .replace(/<br\s*\/?>|<\/p>|<\/div>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .trim();
