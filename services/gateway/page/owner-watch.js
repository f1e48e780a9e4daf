// Follows jobs until they end: a few by their events, as connections are few, the others by asking now and then.
import { call, home } from "./home.js";
import { eventsOf } from "./wire.js";

const STREAMS = 2;
const EVERY_MS = 1500;
const SINGLE = 5;
const OVER = new Set(["succeeded", "failed", "cancelled"]);

/** Is there nothing more to come? */
export const isOver = (state) => OVER.has(state);

/** Tells ``changed(job)`` whatever becomes of the jobs that are followed. */
export class Watch {
  constructor(changed) {
    Object.assign(this, { changed, open: new Map(), streams: new Set(), broken: new Set(), timer: null });
  }

  follow(id) {
    if (this.open.has(id)) return;
    this.open.set(id, "");
    this.arrange();
  }

  arrange() {
    for (const id of this.open.keys()) {
      if (this.streams.size >= STREAMS) break;
      if (!this.streams.has(id) && !this.broken.has(id)) this.stream(id);
    }
    if (this.open.size > this.streams.size && this.timer === null) this.timer = setTimeout(() => this.poll(), EVERY_MS);
  }

  async stream(id) {
    this.streams.add(id);
    try {
      const response = await home.send(`/v1/jobs/${encodeURIComponent(id)}/events`, { accept: "text/event-stream" });
      for await (const { event, data } of eventsOf(response)) if (event === "job") this.told(data);
    } catch (failure) {
      if (failure.status === 404) this.open.delete(id);
    }
    this.streams.delete(id);
    if (this.open.has(id)) this.broken.add(id);
    this.arrange();
  }

  async poll() {
    this.timer = null;
    const asked = [...this.open.keys()].filter((id) => !this.streams.has(id));
    try {
      const { items } = await call("/v1/jobs?limit=200");
      const found = new Map(items.map((job) => [job.id, job]));
      for (const id of asked) if (found.has(id)) this.told(found.get(id));
      for (const id of asked.filter((one) => !found.has(one)).slice(0, SINGLE)) {
        this.told(await call(`/v1/jobs/${encodeURIComponent(id)}`));
      }
    } catch {
      // The next look tries again.
    }
    this.arrange();
  }

  told(job) {
    const print = JSON.stringify(job);
    const before = this.open.get(job.id);
    if (before === undefined || before === print) return;
    this.open.set(job.id, print);
    if (isOver(job.state)) {
      this.open.delete(job.id);
      this.broken.delete(job.id);
    }
    this.changed(job);
  }
}
