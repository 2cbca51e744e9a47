/** The texts of the dashboard in both languages, one file for each, for translators. */
import da from './da.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };

/** With singular and plural if a number is in it. `{name}` is a placeholder. */
export type Text = string | { readonly one: string; readonly other: string };

export type TextKey = keyof typeof en;

export const TEXTS: Readonly<Record<'en' | 'da', Readonly<Record<TextKey, Text>>>> = { en, da };

export const isText = (key: string): key is TextKey => key in en;
