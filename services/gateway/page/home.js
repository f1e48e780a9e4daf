// This page's own gateway, and the key that the visitor gave for it: kept for this tab only, never in its address.
import { Wire } from "./wire.js";

const KEPT_AS = "ragstone.key";
let held = null;

/** The key that is held now, or null. A browser that keeps nothing keeps it until the page is left. */
export function heldKey() {
  try {
    return sessionStorage.getItem(KEPT_AS) ?? held;
  } catch {
    return held;
  }
}

/** Holds a key, or none any more. */
export function holdKey(key) {
  held = key || null;
  try {
    if (held) sessionStorage.setItem(KEPT_AS, held);
    else sessionStorage.removeItem(KEPT_AS);
  } catch {
    // It is held by this script then.
  }
}

export const home = new Wire("", heldKey);

/** JSON of a GET or another method; throws a Failure with the server's sentence. */
export function call(path, options = {}) {
  return home.call(path, options);
}
