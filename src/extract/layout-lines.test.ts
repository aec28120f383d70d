import { describe, expect, it } from 'vitest';
import { isLayoutLine } from './layout-lines.ts';

describe('isLayoutLine', () => {
  it.each([
    ['ADVERTISEMENT', true],
    ['— Advertisement —', true],
    ['Publicité', true],
    ['Story continues below advertisement', true],
    ['Table of Contents:', true],
    ['Image 2 of 5', true],
    ['Loading…', true],
    ['Advertisements of 1870', false],
    ['Anzeigepflicht', false],
    ['Share', false],
    ['Loading the lamps', false],
    ['', false],
    ['1 2 3', true],
    ['Pages: 1 2 … 9 Next', true],
    ['« 1 | 2 | 3 »', true],
    ['12 months out', false],
    ['1/2 cup of oil', false],
    ['1 2 many lamps were lit that night at the harbour', false],
    ['To see this content please enable targeting cookies. Manage cookie settings', true],
    ['Externer Inhalt nicht verfügbar', true],
    ['Empfohlener redaktioneller Inhalt', true],
    ['Deine Privatsphäre-Einstellungen verhindern das Laden externer Inhalte.', true],
    ['Infografiken anzeigen Datenschutzeinstellungen anpassen', true],
    ['To see this content as it was meant, one has to climb the tower of the lamps.', false],
    ['Externer Inhalt von Lampen wird in der Regel nicht geprüft, sagt die Behörde am Hafen.', false],
  ])('%j: %s', (text, expected) => {
    expect(isLayoutLine({ text, words: text.split(' ').length, links: 1 })).toBe(expected);
  });
  it('numbers without links are no pager', () => {
    expect(isLayoutLine({ text: '1 2 3', words: 3, links: 0 })).toBe(false);
  });
});
