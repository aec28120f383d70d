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
    ['To see this content please enable targeting cookies. Manage cookie settings', true],
    ['Externer Inhalt nicht verfügbar', true],
    ['Empfohlener redaktioneller Inhalt', true],
    ['Deine Privatsphäre-Einstellungen verhindern das Laden externer Inhalte.', true],
    ['Infografiken anzeigen Datenschutzeinstellungen anpassen', true],
    ['To see this content as it was meant, one has to climb the tower of the lamps.', false],
    ['Externer Inhalt von Lampen wird in der Regel nicht geprüft, sagt die Behörde am Hafen.', false],
  ])('%j: %s', (text, expected) => {
    expect(isLayoutLine({ text, words: text.split(' ').length })).toBe(expected);
  });
});
