// The button and the dialog that make links for others: with which rights, for whom, which there are, and their end.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { IssuedLink } from "../../feed/access";
import type { Store } from "../../state/store";
import { counted } from "../../words";
import { linkAddress, NOT_OWNER, rightsWords, tunnelLine } from "../../words/access";
import { Icon } from "../icons";
import { CopyButton, copied } from "./copy-button";

export function CopyLink({ store }: { store: Store }) {
  const isOpen = useSignal(false);
  const { isOwner } = store.access.value;
  return (
    <>
      <button type="button" class="icon" aria-label="Copy link" disabled={!isOwner} title={isOwner ? "Copy link: let others open this page" : NOT_OWNER} onClick={() => (isOpen.value = true)}>
        <Icon name="link" />
      </button>
      {isOpen.value && <LinkDialog store={store} close={() => (isOpen.value = false)} />}
    </>
  );
}

function LinkDialog({ store, close }: { store: Store; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const label = useSignal("");
  const canControl = useSignal(false);
  const canAnnotate = useSignal(false);
  const made = useSignal<{ number: number; address: string; isCopied: boolean } | null>(null);
  const asked = useSignal(false);
  useEffect(() => dialog.current?.showModal(), []);
  const access = store.access.value;
  useEffect(() => {
    if (!asked.value) return;
    if (access.refused) asked.value = false;
    if (!access.made || access.made.number === made.peek()?.number) return;
    const { number, token } = access.made;
    const address = linkAddress(location.origin, token, location.hash);
    asked.value = false;
    label.value = "";
    canControl.value = false;
    canAnnotate.value = false;
    void copied(address, dialog.current ?? document.body).then((isCopied) => (made.value = { number, address, isCopied }));
  }, [access, asked, made, label, canControl, canAnnotate]);
  const make = (event: Event): void => {
    event.preventDefault();
    asked.value = true;
    store.issueLink(label.value, canControl.value, canAnnotate.value);
  };
  const current = made.value && access.links.some(({ number }) => number === made.value?.number) ? made.value : null;
  const tunnel = tunnelLine(location.hostname, location.port, access);
  return (
    <dialog ref={dialog} class="links" aria-labelledby="links-title" onCancel={(event) => { event.preventDefault(); close(); }} onKeyDown={(event) => event.stopPropagation()}>
      <h2><span id="links-title">Copy link</span><button type="button" onClick={close}>Close</button></h2>
      <form onSubmit={make}>
        <fieldset>
          <legend>Whoever opens the link may</legend>
          <label><input type="checkbox" class="check" checked disabled /><span><b>read</b>: see the whole run, in all views</span></label>
          <label><input type="checkbox" class="check" checked={canControl.value} onChange={(event) => (canControl.value = event.currentTarget.checked)} /><span><b>control</b>: move the shared clock and selection, pause recording</span></label>
          <label><input type="checkbox" class="check" checked={canAnnotate.value} onChange={(event) => (canAnnotate.value = event.currentTarget.checked)} /><span><b>annotate</b>: let programs add notes, series and panels</span></label>
        </fieldset>
        <div class="make">
          <label for="link-label">For</label>
          <input id="link-label" type="text" required maxLength={64} autocomplete="off" placeholder="a name you recognize, such as Ana" value={label.value} onInput={(event) => (label.value = event.currentTarget.value)} />
          <button type="submit" class="primary" disabled={label.value.trim() === ""} title={label.value.trim() === "" ? "Say whom the link is for: you will know which one to revoke" : "Make the link and copy it"}>Copy link</button>
        </div>
      </form>
      {access.refused && <p class="bad" role="alert">{access.refused}</p>}
      {current && (
        <div class="made" role="status">
          <div class="line"><input type="text" readOnly aria-label="The new link" value={current.address} onFocus={(event) => event.currentTarget.select()} /><CopyButton text={current.address} label="Copy the link again" /></div>
          <p class="small">{current.isCopied ? "The link is in the clipboard." : "The browser did not allow copying; select the link and copy it."} It opens this view. It is not shown again.</p>
        </div>
      )}
      {tunnel && <>
        <p class="small">mpiscope serves this page to its own machine only. On another machine, run this first:</p>
        <div class="line"><code>{tunnel}</code><CopyButton text={tunnel} label="Copy the ssh line" /></div>
      </>}
      <Issued store={store} links={access.links} most={access.linksMax} />
    </dialog>
  );
}

function Issued({ store, links, most }: { store: Store; links: readonly IssuedLink[]; most: number }) {
  if (links.length === 0) return <p class="small">No links yet. A link works until you revoke it, or until mpiscope ends.</p>;
  return (
    <>
      <h3>{counted(links.length, "link", "links")} of {most}</h3>
      <div class="issued">
        <table aria-label="Links">
          <thead><tr><th>For</th><th>May</th><th title="Pages and programs that are connected with the link now">Open</th><th><span class="hidden-words">Revoke</span></th></tr></thead>
          <tbody>
            {links.map(({ number, label, connections, ...rights }) => (
              <tr key={number}>
                <td title={label}>{label}</td><td>{rightsWords(rights)}</td><td>{connections}</td>
                <td><button type="button" aria-label={`Revoke the link for ${label}`} title="End the link; its open pages and programs are closed now" onClick={() => store.revokeLink(number)}>Revoke</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
