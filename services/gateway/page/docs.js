// Shows /openapi.json by Swagger UI, which asks nobody else: its online validator is off.

window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#doors",
  deepLinking: true,
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
});
