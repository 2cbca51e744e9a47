/** One spelling for words that Danes abbreviate in names and addresses. */

const SHORT = new Map(
  Object.entries({
    kobenhavn: 'kbh',
    copenhagen: 'kbh',
    cph: 'kbh',
    christian: 'chr',
    kristian: 'chr',
    sonder: 'sdr',
    sondre: 'sdr',
    sdr: 'sdr',
    norre: 'nr',
    nordre: 'ndr',
    vester: 'v',
    vestre: 'v',
    vstr: 'v',
    oster: 'o',
    ostre: 'o',
    ostr: 'o',
    gammel: 'gl',
    gamle: 'gl',
    brodrene: 'brdr',
    international: 'int',
    intl: 'int',
    store: 'st',
    sankt: 'skt',
    lille: 'll',
    ejerforeningen: 'ef',
    ejerforening: 'ef',
    andelsboligforeningen: 'ab',
    andelsboligforening: 'ab',
  }),
);

export const abbreviated = (word: string): string => SHORT.get(word) ?? word;
