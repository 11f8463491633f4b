import { withFacts } from "../../http/answer-facts.js";
import { isOwnOrigin } from "../../http/origin.js";
import { isRefusal, Refusal } from "../../http/refusal.js";
import { object, text } from "../../wire/schema.js";
import type { AuthContext, AuthRequest } from "../context.js";
import { type AuthEndpoint, pageParameter } from "../endpoint.js";
import { applicationUrl } from "../links/link-url.js";
import { addressOfLink, useLink } from "../links/use-link.js";
import { pageResponse } from "../pages/html-page.js";
import { donePage, type FormPage, formPage, problemPage, purposeOfPage, takesPassword } from "../pages/link-page.js";

/**
 * GET /auth/pages/{verify-email, accept-invitation, reset-password, change-email}: the server's own page for a mailed
 * link, used where `$auth` names no page of the application. Opening it does not use the link up.
 */
export const showPageEndpoint: AuthEndpoint = {
  method: "GET",
  path: "/auth/pages/{name}",
  summary: "The page of a link, where none is configured",
  parameters: [pageParameter, { name: "token", in: "query", required: true, schema: text }],
  answers: { 200: "text/html", 400: "text/html" },
  errors: [403, 404, 503],
  needs: "nothing",
  handle: showPage,
};

async function showPage({ request, context, name }: AuthRequest): Promise<Response | Refusal> {
  const purpose = purposeOfPage(name);
  if (purpose === null) return noSuchPage;
  const token = new URL(request.url).searchParams.get("token");
  if (token === null || token === "") return pageResponse(problemPage(incomplete), 400);
  return formResponse(context, { purpose, token, problem: null }, 200);
}

async function formResponse(
  context: AuthContext,
  form: Pick<FormPage, "purpose" | "token" | "problem">,
  status: number,
): Promise<Response> {
  const email = await addressOfLink(context, form.purpose, form.token);
  const passwordLengthMin = context.config.auth.password_min_length;
  return pageResponse(formPage({ ...form, email, passwordLengthMin }), status);
}

const foreignForm = new Refusal("forbidden", "the form comes from another origin", {
  facts: { event: "cross_site_refused" },
});
const noSuchPage = new Refusal("not_found", "no such page");
const incomplete = "The address is incomplete. Open the whole link of the mail.";

/**
 * POST /auth/pages/{name}: takes the form of the server's own page for a mailed link, and uses the link up; a password
 * that is refused leaves it usable. It opens no session, so that a page of another site cannot sign anybody in by
 * sending such a form.
 */
export const submitPageEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/pages/{name}",
  summary: "Its form",
  parameters: [pageParameter],
  body: { "application/x-www-form-urlencoded": object({ token: text, password: text }, "password") },
  answers: { 200: "text/html", 400: "text/html" },
  errors: [400, 403, 404, 413, 415, 503],
  events: ["link_used", "link_refused"],
  needs: "nothing",
  handle: submitPage,
};

async function submitPage(given: AuthRequest): Promise<Response | Refusal> {
  const { request, context, name, address } = given;
  const purpose = purposeOfPage(name);
  if (purpose === null) return noSuchPage;
  if (!isOwnForm(request, context)) return foreignForm;
  const form = await readForm(given);
  if (isRefusal(form)) return form;
  const token = form.get("token") ?? "";
  const password = takesPassword(purpose) ? (form.get("password") ?? "") : null;
  // The application's URL is read before the link is used: if the storage fails while it is read, the link stays
  // usable.
  const application = await applicationOf(context);
  const used = await useLink(context, { purpose, token, password, address });
  // The URL that the invitation leads to, `redirectTo`, is not checked any more: it was checked when the invitation was
  // created.
  if (!isRefusal(used)) {
    const done = await pageResponse(donePage(purpose, used.redirectTo ?? application), 200);
    return withFacts(done, { principal: { kind: "user", id: used.userId } });
  }
  const problem = sentence(used);
  if (used.code === "invalid_token")
    return withFacts(await pageResponse(problemPage(problem), used.status), { code: used.code });
  return formResponse(context, { purpose, token, problem }, used.status);
}

/**
 * The URL of the application, at which the page offers to continue; null where svc.schema.yaml and svc.toml name none,
 * or no schema can be served.
 */
async function applicationOf({ settings, config }: AuthContext): Promise<string | null> {
  const found = await settings();
  return isRefusal(found) ? null : applicationUrl(found, config.cors.allowed_origins);
}

/**
 * Whether the form was sent by a page of this server. A page with `Referrer-Policy: no-referrer` sends its forms with
 * `Origin: null` (Fetch, "append a request Origin header"). In that case the header `Sec-Fetch-Site` tells, which no
 * page can forge.
 */
function isOwnForm(request: Request, { publicBaseUrl, config }: AuthContext): boolean {
  const origin = request.headers.get("Origin");
  if (origin === null || origin === "null") return request.headers.get("Sec-Fetch-Site") === "same-origin";
  const own = new URL(publicBaseUrl).origin;
  return isOwnOrigin(origin, { own, trustProxy: config.server.trust_proxy }, request);
}

const formBytesMax = 16_384;

/**
 * Reads the form of a page that a mailed link leads to. Refused where a field comes twice, because it is unclear which
 * one is meant.
 */
async function readForm({ request, body }: AuthRequest): Promise<ReadonlyMap<string, string> | Refusal> {
  const isForm = /^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers.get("Content-Type") ?? "");
  if (!isForm) return new Refusal("unsupported_media_type", "expected Content-Type: application/x-www-form-urlencoded");
  const text = await body.text(formBytesMax);
  if (isRefusal(text)) return text;
  const entries = [...new URLSearchParams(text)];
  const fields = new Map(entries);
  return fields.size === entries.length ? fields : new Refusal("bad_request", "a field is given twice");
}

function sentence({ message }: Refusal): string {
  return `${message[0]!.toUpperCase()}${message.slice(1)}.`;
}
