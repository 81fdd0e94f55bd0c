// The page has no script in its markup, so that its Content-Security-Policy can be strict.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  displayOperationId: true,
  showExtensions: true,
  validatorUrl: null,
});
