// Asks one question after the other and shows what comes; page and widget share it.
import { answerView } from "./answer.js";
import { Failure } from "./wire.js";

export const STAGES = {
  clean: "Reading the question…",
  decompose: "Taking the question apart…",
  retrieve: "Looking through the documents…",
  write: "Writing from what was found…",
  check: "Checking every sentence once more…",
};
const TURNS = 6;
const ANSWER_CHARS = 2000;

/** A conversation: one question at a time, each a follow-up to those before. */
export class Conversation {
  /**
   * ``place(element)`` puts a new answer's article into the page; ``say(text, working, stage)`` tells the stage;
   * ``hear(text)`` is for those who listen; ``busy(yes)``; ``ended(question, answer)``; ``needsKey(shown, failure, again)``.
   */
  constructor(wire, { view, place, say, hear, busy, ended, needsKey }) {
    Object.assign(this, { wire, view, place, say, hear, busy, ended, needsKey });
    this.turns = [];
    this.current = null;
  }

  /** Ends the question that is under way; what came of it stays. */
  stop() {
    this.current?.abort();
  }

  /** Nothing that is asked from now on is a follow-up. */
  forget() {
    this.turns = [];
  }

  /** ``alone``: not as a follow-up to what was asked before. */
  async ask(question, alone = false) {
    this.stop();
    const mine = (this.current = new AbortController());
    const shown = answerView(question, { wire: this.wire, ask: (other, single) => this.ask(other, single), ...this.view });
    const again = () => this.ask(question, alone);
    let passages = [];
    this.place(shown.element, question);
    this.busy(true);
    this.say("Sending the question…", true);
    try {
      const history = alone ? [] : this.turns;
      const answer = await this.wire.ask({ question, history }, {
        signal: mine.signal,
        on: (event, data) => {
          if (event === "stage") this.say(STAGES[data.stage] ?? "Working…", true, data.stage);
          else if (event === "sources") passages = data.passages;
          else if (event === "sentence") {
            shown.sentence(data);
            this.hear(data.text.replace(/\s*\[\d+\]/g, ""));
          }
        },
      });
      answer.passages = passages;
      answer.history = history;
      this.finish(question, answer, shown);
    } catch (error) {
      const superseded = this.current !== mine;
      const failure = mine.signal.aborted ? new Failure("stopped", "Stopped.") : failureFrom(error);
      if (!superseded) this.say("");
      if (failure.status === 401) this.needsKey(shown, failure, again);
      else shown.fail(failure, again);
    } finally {
      if (this.current === mine) {
        this.current = null;
        this.busy(false);
      }
    }
  }

  finish(question, answer, shown) {
    shown.finish(answer);
    const count = answer.citations.length;
    this.say("");
    this.hear(answer.status === "answered" ? `Answered from ${count} ${count === 1 ? "source" : "sources"}.` : answer.text);
    // As typed: the gateway makes each whole again, and tells a visitor's words from those of an answer.
    this.turns = [...this.turns, { question, answer: answer.text.slice(0, ANSWER_CHARS) }].slice(-TURNS);
    this.ended(question, answer);
  }
}

/** What is no failure of the gateway is one of this script: the browser's console has it, and the visitor is not left waiting. */
function failureFrom(error) {
  if (error instanceof Failure) return error;
  reportError(error);
  return new Failure("internal", "The answer could not be shown. Please load the page anew and ask again.");
}
