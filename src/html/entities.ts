import { Tokenizer } from 'htmlparser2';

const unexpected = () => new Error('markup in text without "<"');

/** Reads entities with htmlparser2's decoder, which knows all of them; only text with an ampersand comes here. */
class EntityDecoder {
  private out = '';
  private source = '';
  private readonly tokenizer = new Tokenizer({ decodeEntities: true }, this);

  decode(text: string): string {
    // A lone "<" would begin a tag for the tokenizer; the scanner has seen that it does not.
    if (!text.includes('<')) return this.run(text);
    return text
      .split('<')
      .map((piece) => (piece.includes('&') ? this.run(piece) : piece))
      .join('<');
  }

  private run(text: string): string {
    this.out = '';
    this.source = text;
    this.tokenizer.reset();
    this.tokenizer.write(text);
    this.tokenizer.end();
    return this.out;
  }

  ontext(start: number, end: number): void {
    this.out += this.source.slice(start, end);
  }
  ontextentity(codepoint: number): void {
    this.out += String.fromCodePoint(codepoint);
  }
  onattribdata(): void {
    throw unexpected();
  }
  onattribentity(): void {
    throw unexpected();
  }
  onattribend(): void {
    throw unexpected();
  }
  onattribname(): void {
    throw unexpected();
  }
  oncdata(): void {
    throw unexpected();
  }
  onclosetag(): void {
    throw unexpected();
  }
  oncomment(): void {
    throw unexpected();
  }
  ondeclaration(): void {
    throw unexpected();
  }
  onopentagend(): void {
    throw unexpected();
  }
  onopentagname(): void {
    throw unexpected();
  }
  onprocessinginstruction(): void {
    throw unexpected();
  }
  onselfclosingtag(): void {
    throw unexpected();
  }
  onend(): void {
    this.source = '';
  }
}

const decoder = new EntityDecoder();

/** A text with its entities read. */
export function decodeEntities(text: string): string {
  return decoder.decode(text);
}
