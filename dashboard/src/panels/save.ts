// Files that the page makes: pictures and tables.

/** A name that every file system takes. */
export function fileName(runName: string, what: string, kind = "png"): string {
  const safe = runName.replace(/[^\w.-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "") || "run";
  return `${safe}-${what}.${kind}`;
}

export async function save(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob === null) throw new Error("The browser could not make the picture.");
  saveBlob(blob, name);
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
