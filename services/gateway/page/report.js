// In the frame of no origin that shows a report: takes it from the page around it, once. No module: those need an origin.
addEventListener("message", (event) => {
  if (event.source !== parent || typeof event.data?.html !== "string") return;
  const report = new DOMParser().parseFromString(event.data.html, "text/html");
  const scripts = [...report.querySelectorAll("script")].map((script) => {
    // What was parsed like this never runs; a new element does, under the report's own policy and this frame's.
    script.remove();
    const again = document.createElement("script");
    again.textContent = script.textContent;
    return again;
  });
  document.replaceChild(document.adoptNode(report.documentElement), document.documentElement);
  document.body.append(...scripts);
}, { once: true });
