// Links for others, made on the owner's page.

export const dialog = (page) => page.getByRole("dialog", { name: "Copy link" });

/** A link that the owner makes on the page; with these rights beside reading. */
export async function link(page, label, ...rights) {
  await page.getByRole("button", { name: "Copy link", exact: true }).first().click();
  const box = dialog(page);
  await box.getByLabel("For", { exact: true }).fill(label);
  for (const right of rights) await box.getByRole("checkbox", { name: new RegExp(`^${right}`) }).check();
  await box.getByRole("button", { name: "Copy link", exact: true }).click();
  await box.getByRole("row", { name: new RegExp(label) }).waitFor();
  const address = await box.getByLabel("The new link").inputValue();
  await box.getByRole("button", { name: "Close" }).click();
  return address;
}
