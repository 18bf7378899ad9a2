// The page's one animation loop. Draws when something asked for it, and goes on by itself only while time moves.

type Drawer = (nowMs: number) => void;

export class Frames {
  private readonly drawers = new Set<Drawer>();
  private requested = 0;

  /** `tick` prepares a frame and says whether the next one will differ by itself. */
  constructor(private readonly tick: (nowMs: number) => boolean) {}

  request = (): void => {
    if (this.requested === 0) this.requested = requestAnimationFrame(this.frame);
  };

  /** Draws with every frame; returns how to stop that. */
  add(drawer: Drawer): () => void {
    this.drawers.add(drawer);
    this.request();
    return () => this.drawers.delete(drawer);
  }

  /** At once: what a graphics processor drew can be read only until the browser has shown it. */
  drawNow(): void {
    cancelAnimationFrame(this.requested);
    this.frame();
  }

  private frame = (): void => {
    this.requested = 0;
    const nowMs = performance.now();
    const moving = this.tick(nowMs);
    for (const drawer of this.drawers) drawer(nowMs);
    if (moving) this.request();
  };
}
