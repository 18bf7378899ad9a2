// What the browser keeps of this page from one visit to the next. It may be forbidden; then nothing is kept.

export function storedText(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function storeText(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // It lasts as long as the page, then.
  }
}
