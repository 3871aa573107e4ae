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

export interface Start {
  text: string;
  file: string;
  can_time: boolean;
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
  error?: string;
  replaced?: boolean;
}

async function post<Answer>(path: string, body: object): Promise<Answer> {
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the server refused: ${await response.text()}`);
  return (await response.json()) as Answer;
}

export const checkText = (text: string): Promise<Checked> => post('check', { text });
const client = crypto.randomUUID();

// `number`: greater than that of an earlier run, which the server ends; requests may overtake each other.
export const runText = (text: string, timed: boolean, number: number): Promise<Ran> => post('run', { text, timed, client, number });

// Returns the name of the matrix for a recipe.
export async function keepMatrix(file: File): Promise<{ path?: string; error?: string }> {
  const response = await fetch(`matrix/${encodeURIComponent(file.name)}`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: file });
  if (!response.ok) throw new Error(`the server refused ${file.name}: ${await response.text()}`);
  return (await response.json()) as { path?: string; error?: string };
}

export async function matrixFiles(): Promise<string[]> {
  const response = await fetch('matrices.json');
  return response.ok ? ((await response.json()) as string[]) : [];
}

export function start(): Start {
  return JSON.parse(document.getElementById('start')?.textContent ?? '') as Start;
}

// ---- A link that contains the text: compressed, after the # of the address, which browsers do not send.

async function through(bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function fragmentOf(text: string): Promise<string> {
  const bytes = await through(text, new CompressionStream('deflate'));
  return `#recipe=${btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

// Null if the address contains no text.
export async function textOf(fragment: string): Promise<string | null> {
  if (!fragment.startsWith('#recipe=')) return null;
  try {
    const letters = atob(fragment.slice(8).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate')));
  } catch {
    return null;
  }
}
