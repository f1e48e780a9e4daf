const list = document.getElementById("questions-list");
if (list) {
  const [kind, wrong, shown] = ["pick-kind", "pick-wrong", "shown"].map((id) => document.getElementById(id));
  const all = [...list.children];
  const filter = () => {
    let n = 0;
    for (const one of all) {
      one.hidden = (kind.value !== "" && one.dataset.kind !== kind.value) || (wrong.checked && "good" in one.dataset);
      n += one.hidden ? 0 : 1;
    }
    shown.textContent = n === all.length ? `${n} questions` : `${n} of ${all.length} questions`;
  };
  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.parentElement !== list) return;
    if (target.hidden) { kind.value = ""; wrong.checked = false; filter(); }
    target.open = true;
    target.scrollIntoView();
  };
  kind.addEventListener("change", filter);
  wrong.addEventListener("change", filter);
  addEventListener("hashchange", open);
  document.getElementById("filters").hidden = false;
  filter();
  open();
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
