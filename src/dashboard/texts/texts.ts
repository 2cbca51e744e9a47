/** Every text of the dashboard in both languages: a file for each, which a translator can read. */
import da from './da.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };

/** With a form for one and for many if a number is in it. `{name}` is a place for a value. */
export type Text = string | { readonly one: string; readonly other: string };

export type TextKey = keyof typeof en;

export const TEXTS: Readonly<Record<'en' | 'da', Readonly<Record<TextKey, Text>>>> = { en, da };

export const isText = (key: string): key is TextKey => key in en;
