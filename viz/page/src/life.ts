// Listeners of the window that end when the page shows another document.
let life = new AbortController();

export function listen<Kind extends keyof WindowEventMap>(kind: Kind, handle: (event: WindowEventMap[Kind]) => void): void {
  addEventListener(kind, handle, { signal: life.signal });
}

export const lifeSignal = (): AbortSignal => life.signal;

export function endListeners(): void {
  life.abort();
  life = new AbortController();
}
