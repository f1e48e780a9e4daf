// A place to drop files and folders on, or to choose them.
import { around, make } from "./text.js";
import { plural } from "./owner-words.js";

/** ``chosen([{file, path}])`` gets the files; hidden ones, such as .DS_Store, are left out and counted. */
export function picker(chosen) {
  const told = make("p", "", { className: "note" }, { role: "status" });
  const area = around("div", [
    around("p", [
      make("span", "Drop files or folders here, or choose them:", { className: "drop-words" }),
      ...input("files", "Choose files", { multiple: true }),
      ...input("folder", "Choose a folder", { webkitdirectory: true }),
    ]),
    make("p", "PDF, Word, PowerPoint, Excel, Markdown, HTML, EPUB, mail, notebooks, CSV, JSON and plain text. Sending a file again replaces it.", { className: "note" }),
    told,
  ], { className: "drop" });

  function take(files) {
    const seen = files.filter(({ path }) => !path.split("/").some((step) => step.startsWith(".")));
    const hidden = files.length - seen.length;
    const left = hidden ? `${plural(hidden, "hidden file")} left out.` : "";
    told.textContent = files.length ? left : "There was no file in it.";
    if (seen.length) chosen(seen);
  }

  for (const field of area.querySelectorAll("input")) {
    field.addEventListener("change", () => {
      take([...field.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
      field.value = "";
    });
  }
  for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
    area.addEventListener(name, (event) => {
      event.preventDefault();
      area.classList.toggle("over", name === "dragover" || name === "dragenter");
    });
  }
  area.addEventListener("drop", async (event) => {
    // Both have to be read before anything is awaited: the browser empties them.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [...event.dataTransfer.files].map((file) => ({ file, path: file.name }));
    try {
      take(entries.length ? (await Promise.all(entries.map(within))).flat() : files);
    } catch {
      told.textContent = "Your browser could not read what was dropped. Please choose the files instead.";
    }
  });
  return area;
}

function input(id, text, properties) {
  const field = make("input", "", { type: "file", id, className: "pick-input", ...properties });
  return [field, make("label", text, { className: "pick", htmlFor: id })];
}

/** All files below a dropped file or folder, each with its path. */
async function within(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ file, path: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A reader gives some at a time, and none when it has given all.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    found.push(...(await Promise.all(some.map(within))).flat());
  }
}
