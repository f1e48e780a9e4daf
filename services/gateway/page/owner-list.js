// Lists that are refreshed without a flicker: only what changed is touched, so focus and selection stay where they are.

const OWN = new Set(["aria-expanded", "open"]); // set by whoever looks, not by what is drawn

/** Makes ``old`` look like ``fresh``, keeping every element that can be kept; gives the element that is there then. */
export function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return fresh;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return old;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !OWN.has(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !(OWN.has(name) && old.hasAttribute(name))) old.setAttribute(name, value);
  }
  const wanted = [...fresh.childNodes];
  wanted.forEach((child, n) => {
    const there = old.childNodes[n];
    if (there) morph(there, child);
    else old.append(child);
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
  return old;
}

/** Rows by key inside ``root``. Buttons in them carry data-do; what they do stands in ``does``, by that name. */
export class Listing {
  constructor(root, { key, draw, does = {} }) {
    Object.assign(this, { root, key, draw, rows: new Map() });
    root.tabIndex = -1;
    root.addEventListener("click", (event) => {
      const pressed = event.target.closest("[data-do]");
      const row = pressed?.closest("[data-key]");
      const known = row && this.rows.get(row.dataset.key);
      if (known && root.contains(pressed)) does[pressed.dataset.do]?.(known.item, pressed, row);
    });
  }

  /** Shows these items, in this order. */
  show(items) {
    const focused = this.root.contains(document.activeElement) ? document.activeElement : null;
    const held = focused?.closest("[data-key]");
    const place = held ? [...this.root.children].indexOf(held) : -1;
    const keys = new Set(items.map((item) => String(this.key(item))));
    for (const [key, { element }] of this.rows) {
      if (keys.has(key)) continue;
      element.remove();
      this.rows.delete(key);
    }
    items.forEach((item, n) => {
      const element = this.row(item);
      if (this.root.children[n] !== element) this.root.insertBefore(element, this.root.children[n] ?? null);
    });
    if (focused && document.activeElement !== focused) this.refocus(focused, place);
  }

  row(item) {
    const key = String(this.key(item));
    const print = JSON.stringify(item);
    const known = this.rows.get(key);
    if (known?.print === print) return known.element;
    const fresh = this.draw(item);
    fresh.dataset.key = key;
    const element = known ? morph(known.element, fresh) : fresh;
    this.rows.set(key, { item, print, element });
    return element;
  }

  /** A row that was moved takes the focus along; one that is gone leaves it to its neighbour. */
  refocus(focused, place) {
    if (focused.isConnected) {
      focused.focus({ preventScroll: true });
      return;
    }
    const near = this.root.children[Math.min(place, this.root.children.length - 1)];
    (near?.querySelector("button, a, summary") ?? this.root).focus({ preventScroll: true });
  }
}
