// The only socket. Reconnects by itself, each time later, and finds out why it cannot.

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 15000;

/**
 * Calls `onMessage(buffer)` for each message and `onLink({phase, retryInSeconds})` for each change.
 * Phases: connecting, open, lost, full, refused, outdated. Returns {resync, giveUp}.
 */
export function connect(onMessage, onLink) {
  let socket = null;
  let delay = FIRST_RETRY_MS;
  let retryAt = 0;
  let timer = 0;
  let over = false;

  function open() {
    clearInterval(timer);
    onLink({ phase: "connecting", retryInSeconds: 0 });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const mine = new WebSocket(`${scheme}://${location.host}/feed`);
    mine.binaryType = "arraybuffer";
    let heard = false;
    mine.onmessage = (event) => {
      if (mine !== socket) return;
      if (!heard) {
        heard = true;
        delay = FIRST_RETRY_MS;
        onLink({ phase: "open", retryInSeconds: 0 });
      }
      onMessage(event.data);
    };
    mine.onclose = async () => {
      if (mine !== socket || over) return;
      socket = null;
      const phase = heard ? "lost" : await reason();
      if (over || socket) return;
      if (phase === "refused") giveUp("refused");
      else retry(phase);
    };
    socket = mine;
  }

  function retry(phase) {
    retryAt = performance.now() + delay * (0.75 + 0.5 * Math.random());
    delay = Math.min(delay * 2, LAST_RETRY_MS);
    const tick = () => {
      const left = retryAt - performance.now();
      if (left <= 0) open();
      else onLink({ phase, retryInSeconds: Math.ceil(left / 1000) });
    };
    clearInterval(timer);
    timer = setInterval(tick, 250);
    tick();
  }

  function giveUp(phase) {
    over = true;
    clearInterval(timer);
    socket?.close();
    onLink({ phase, retryInSeconds: 0 });
  }

  function resync() {
    const old = socket;
    socket = null;
    old?.close();
    retry("lost");
  }

  addEventListener("online", () => {
    if (!socket && !over) open();
  });
  open();
  return { resync, giveUp };
}

/** A browser does not tell a page why a WebSocket was refused; an ordinary request does. */
async function reason() {
  try {
    const answer = await fetch("/health", { cache: "no-store" });
    if (answer.status === 403 || answer.status === 421) return "refused";
    const health = await answer.json();
    return health.viewers >= health.viewers_max ? "full" : "lost";
  } catch {
    return "lost";
  }
}
