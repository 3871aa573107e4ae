// The server of the live page, and the data with which the page begins.
import type { Outline } from './live_text';

export interface Declaration {
  name: string;
  type: 'boolean' | 'integer' | 'real' | 'choice' | 'list' | 'text';
  default: boolean | number | string | null;
  optional: boolean;
  minimum: number | null;
  maximum: number | null;
  words: string[];
  unit: string;
  accepts: string;
  help: string;
}

export interface Entry {
  name: string;
  summary: string;
  parameters: Declaration[];
}

export interface LayoutEntry extends Entry {
  kernels: { name: string; backend: string; summary: string }[];
}

export interface Catalogue {
  stages: Entry[];
  layouts: LayoutEntry[];
  generators: Entry[];
  recipe: Declaration[];
  matrix: Declaration[];
}

export interface LiveFile {
  number: number; // in the server
  text: string;
  file: string; // the name of the recipe
  path: string; // of the recipe or lesson
  lesson: string; // Markdown; empty: none
}

export interface Start {
  files: LiveFile[];
  can_time: boolean;
  begins: boolean; // no file was named, so that the page asks where to begin
  catalogue: Catalogue;
}

export interface Problem {
  line: number; // 0: the whole text
  column: number;
  message: string;
}

export interface Checked {
  problems: Problem[];
  message: string;
  outline: Outline | null; // null: the text is not TOML
}

export interface Ran {
  page?: number;
  parts?: Uint8Array[]; // title, document and sections of the page; those that it shares with the one before are the same arrays
  error?: string;
  replaced?: boolean;
}

// The server has ended, or the connection broke: another try may succeed.
export class ServerGone extends Error {}

async function request(path: string, options: RequestInit): Promise<ArrayBuffer> {
  let response: Response;
  let bytes: ArrayBuffer;
  try {
    response = await fetch(path, options);
    bytes = await response.arrayBuffer();
  } catch {
    throw new ServerGone('The server does not answer');
  }
  if (response.status === 404) throw new Error('The server was started again, at another address: open the one that it prints.');
  if (!response.ok) throw new Error(`the server refused: ${new TextDecoder().decode(bytes)}`);
  return bytes;
}

function parsed<Answer>(bytes: Uint8Array): Answer {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Answer;
  } catch {
    throw new ServerGone('The server ended while it answered');
  }
}

async function post<Answer>(path: string, body: object): Promise<Answer> {
  return parsed(new Uint8Array(await request(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })));
}

let of = 0; // number of the file that is edited

export function useFile({ number }: LiveFile): void {
  of = number;
}

export const checkText = (text: string): Promise<Checked> => post('check', { text, of });
const client = crypto.randomUUID();

let have = 0; // number of the page whose parts are here
let kept: Uint8Array[] = [];

async function run(body: object, old: Uint8Array[]): Promise<Ran> {
  const options = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const answer = new Uint8Array(await request('run', options));
  const end = answer.indexOf(10);
  if (end < 0) throw new ServerGone('The server ended while it worked');
  const ran = parsed<{ page?: number; parts?: { same?: number; bytes?: number }[]; error?: string; replaced?: boolean }>(answer.subarray(0, end));
  if (ran.page === undefined || !ran.parts) return { error: ran.error, replaced: ran.replaced };
  let at = end + 1;
  const parts = ran.parts.map(({ same, bytes = 0 }) => (same !== undefined ? old[same] : answer.subarray(at, (at += bytes))));
  if (at !== answer.length) throw new ServerGone('The server ended while it answered');
  return { page: ran.page, parts };
}

// `number`: greater than that of an earlier run, which the server ends; requests may overtake each other.
export async function runText(text: string, timed: boolean, number: number): Promise<Ran> {
  const ran = await run({ text, of, timed, client, number, have }, kept);
  if (ran.page !== undefined && ran.parts && ran.page > have) [have, kept] = [ran.page, ran.parts];
  return ran;
}

// Runs another text beside that of the page, which it does not end.
export const runBeside = (text: string): Promise<Ran> => run({ text, of, client: crypto.randomUUID(), number: 1 }, []);

// Returns the name of the matrix for a recipe.
export async function keepMatrix(file: File): Promise<{ path?: string; error?: string }> {
  return parsed(new Uint8Array(await request(`matrix/${of}/${encodeURIComponent(file.name)}`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: file })));
}

export async function matrixFiles(): Promise<string[]> {
  return parsed(new Uint8Array(await request(`matrices/${of}`, {})));
}

export function start(): Start {
  const facts = JSON.parse(document.getElementById('start')?.textContent ?? '') as Start;
  const place = ({ lesson }: LiveFile): number => (lesson ? parseInt(lesson.slice(2), 10) || Infinity : Infinity); // "# 3. Slices"
  facts.files.forEach((file, i) => (file.number = i));
  facts.files.sort((a, b) => place(a) - place(b) || a.number - b.number);
  return facts;
}

// ---- A link that contains the text, compressed, and the path of its file: after the # of the address, which browsers do not send.

export interface Link {
  text: string;
  path: string; // empty: unknown
}

async function through(bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function fragmentOf({ text, path }: Link): Promise<string> {
  const bytes = await through(text, new CompressionStream('deflate'));
  return `#recipe=${btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}&file=${encodeURIComponent(path)}`;
}

// Null if the address contains no text.
export async function linkOf(fragment: string): Promise<Link | null> {
  const words = new URLSearchParams(fragment.slice(1));
  const recipe = words.get('recipe');
  if (recipe === null) return null;
  try {
    const letters = atob(recipe.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return { text: new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate'))), path: words.get('file') ?? '' };
  } catch {
    return null;
  }
}
