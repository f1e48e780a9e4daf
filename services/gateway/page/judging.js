// Good or not: what a reader thinks of an answer goes to the gateway, with a word about it if they like.
import { around, button, make } from "./text.js";

const COMMENT_MAX = 4000;

/** Two buttons, and below them, once one was pressed, a place for a comment. */
export function judging(wire, answerId) {
  const told = make("p", "", { className: "note told" }, { role: "status" });
  const more = make("div", "", { className: "comment" });
  const choices = [["good", "Helpful"], ["bad", "Not helpful"]].map(([verdict, label]) =>
    button(label, (pressed) => judge(verdict, pressed), { className: "tool" }, { "aria-pressed": "false", "data-verdict": verdict }),
  );

  async function judge(verdict, pressed) {
    for (const choice of choices) choice.setAttribute("aria-pressed", String(choice === pressed));
    if (!(await send(verdict, undefined, "Thank you. That helps to make the answers better."))) return;
    more.replaceChildren(commentForm(verdict));
  }

  async function send(verdict, comment, thanks) {
    told.classList.remove("bad");
    try {
      await wire.call("/v1/feedback", { json: { answer_id: answerId, verdict, comment } });
      told.textContent = thanks;
      return true;
    } catch (error) {
      told.textContent = `Your judgement did not arrive. ${error.message}`;
      told.classList.add("bad");
      for (const choice of choices) choice.setAttribute("aria-pressed", "false");
      return false;
    }
  }

  function commentForm(verdict) {
    const label = verdict === "good" ? "What was good about it? (optional)" : "What would have been right? (optional)";
    const field = make("textarea", "", { rows: 2, maxLength: COMMENT_MAX, dir: "auto" });
    const form = around("form", [around("label", [make("span", label), field]), make("button", "Send", { type: "submit" })]);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const comment = field.value.trim();
      if (!comment || !(await send(verdict, comment, "Thank you for the comment."))) return;
      const focused = form.contains(form.getRootNode().activeElement);
      more.replaceChildren();
      if (focused) choices[0].focus();
    });
    return form;
  }

  return { choices, below: around("div", [told, more], { className: "judging" }) };
}
