// Downloads by script: a plain link cannot show a key.
import { home } from "./home.js";
import { make } from "./text.js";

/** Fetches an address with the key and hands the browser a file of that name. */
export async function save(address, name) {
  const response = await home.send(address, { accept: "*/*" });
  const url = URL.createObjectURL(await response.blob());
  make("a", "", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
